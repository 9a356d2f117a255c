"use strict";
// A click on a heading sorts the table by its column; a second click reverses the order.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.closest("th");
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const numbers = heading.classList.contains("number");
    const first = numbers ? "descending" : "ascending";
    const other = numbers ? "ascending" : "descending";
    const order = heading.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    const key = (row) => row.cells[column].dataset.key;
    const compare = (a, b) => {
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");
      const difference = numbers ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), undefined, { numeric: true });
      return sign * difference;
    };
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort(compare));
    for (const th of table.querySelectorAll("th")) th.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
  });
}
