"""Tables in CSV and Parquet."""

import numpy as np
import pytest

from invarlearn.app.messages import InputError
from invarlearn.app.readers import open_samples


@pytest.mark.parametrize("between", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_tables_are_read_back(csv_text, tmp_path, between, start):
    path = tmp_path / "a.csv"
    path.write_text(start + csv_text.replace(",", between), encoding="utf-8")
    source = open_samples(path)
    np.testing.assert_array_equal(source.read_all(), [[1, 2.5], [-300, 4]])
    assert source.labels.tolist() == ["yes", "no"]
    assert source.settings["columns"] == ["a", "b"]
    assert source.settings["label"] == "class"


def test_columns_of_other_tables_are_matched_by_name(csv_text, tmp_path):
    (tmp_path / "a.csv").write_text(csv_text)
    like = open_samples(tmp_path / "a.csv").settings
    (tmp_path / "b.csv").write_text("b,more,a\n2,9,1\n")
    source = open_samples(tmp_path / "b.csv", like=like)
    np.testing.assert_array_equal(source.read_all(), [[1, 2]])
    assert source.labels is None
    (tmp_path / "c.csv").write_text("b,class\n2,yes\n")
    with pytest.raises(InputError, match="no column 'a', which the model was trained on"):
        open_samples(tmp_path / "c.csv", like=like)


def test_parquet_and_csv_are_read_alike(csv_text, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text(csv_text)
    pandas.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    one, other = (open_samples(tmp_path / f"a.{kind}") for kind in ("csv", "parquet"))
    np.testing.assert_array_equal(one.read_all(), other.read_all())
    assert one.labels.tolist() == other.labels.tolist()
    assert one.settings == other.settings


def test_parquet_with_columns_that_are_not_numbers_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    frame = pandas.DataFrame({"a": pandas.to_datetime(["2020-01-01"]), "class": ["x"]})
    frame.to_parquet(path)
    with pytest.raises(InputError, match="column 'a' has values that are not numbers"):
        open_samples(path)
    pandas.DataFrame({"a": [1.0], "class": [np.nan]}).to_parquet(path)
    with pytest.raises(InputError, match="column 'class' is empty in 1 rows"):
        open_samples(path)


def test_parquet_with_invalid_utf8_is_refused(intact_files, tmp_path):
    pytest.importorskip("pyarrow")
    content = intact_files["a.parquet"]
    assert content.count(b"\x01\x00\x00\x00y") == 1
    path = tmp_path / "a.parquet"
    path.write_bytes(content.replace(b"\x01\x00\x00\x00y", b"\x01\x00\x00\x00\x80"))
    with pytest.raises(InputError, match="UTF8"):
        open_samples(path)


def test_a_table_needs_no_classes_for_a_model_of_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    like = open_samples(tmp_path / "a.npz").settings
    assert open_samples(tmp_path / "b.csv", like=like).labels is None


def test_errors_about_many_columns_name_the_first_and_the_last(tmp_path):
    path = tmp_path / "a.csv"
    names = [f"c{i}" for i in range(20)]
    path.write_text(",".join([*names, "kind"]) + "\n" + ",".join(["1"] * 21) + "\n")
    with pytest.raises(InputError, match=r"'c0', .* 9 more, 'c18', 'c19', 'kind'"):
        open_samples(path)


def test_row_numbers_are_not_features(tmp_path):
    (tmp_path / "a.csv").write_text(",a,b,label\n0,5,1,x\n1,7,2,y\n2,5,9,x\n")
    source = open_samples(tmp_path / "a.csv")
    assert source.settings["columns"] == ["a", "b"]
    assert [str(note) for note in source.notes] == [
        "Columns used as features: 'a', 'b'.",
        "Column '' is left out, since it seems to hold row numbers.",
    ]
    again = open_samples(tmp_path / "a.csv", like=source.settings)
    np.testing.assert_array_equal(again.read_all(), source.read_all())
    (tmp_path / "b.csv").write_text("id,a,label\n10,5,x\n11,7,y\n12,5,x\n")
    source = open_samples(tmp_path / "b.csv")
    assert source.settings["columns"] == ["id", "a"]
    assert str(source.notes[1]) == "Column 'id' counts the rows. Leave it out with ignore=['id']."
    source = open_samples(tmp_path / "b.csv", ignore=["id"])
    assert source.settings["columns"] == ["a"]
    assert [str(note) for note in source.notes] == ["Columns used as features: 'a'."]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_groups_are_read_from_a_column_of_text(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    text = "patient,a,note,label\np1,5,good,x\np2,7,bad,y\np1,5,,x\n"
    (tmp_path / "a.csv").write_text(text)
    pandas.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    path = tmp_path / f"a.{ending}"
    source = open_samples(path, groups="patient", ignore=["note"])
    assert source.groups.tolist() == ["p1", "p2", "p1"]
    assert source.labels.tolist() == ["x", "y", "x"]
    assert source.settings["columns"] == ["a"]
    assert open_samples(path, like=source.settings).groups is None
    advice = r"ignore=\['patient'\]" + ", or, .* groups='patient'" * (ending == "csv")
    with pytest.raises(InputError, match=advice):
        open_samples(path, ignore=["note"])
    with pytest.raises(InputError, match="no column 'speaker'"):
        open_samples(path, groups="speaker")
    with pytest.raises(InputError, match="column 'label' is the class, and cannot be left out"):
        open_samples(path, label="label", groups="label", ignore=["note", "patient"])
    with pytest.raises(InputError, match="column 'note' is empty"):
        open_samples(path, groups="note", ignore=["patient"])
