"""The choice of a reader, features that readers share, and files that cannot be read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from invarlearn.app.messages import InputError
from invarlearn.app.readers import ReaderLimits, open_samples


def test_hidden_and_unrelated_files_are_ignored(digits):
    (digits / ".DS_Store").write_bytes(b"x")
    (digits / "digit 3" / ".hidden.png").write_bytes(b"x")
    (digits / "digit 3" / "notes.txt").write_text("notes")
    (digits / ".git").mkdir()
    (digits / "empty class").mkdir()
    assert len(open_samples(digits)) == 6


def test_a_flat_folder_has_no_classes(digits):
    source = open_samples(digits / "digit 3")
    assert source.labels is None
    assert source.names == ["0.png", "1.png", "2.png"]


def test_samples_are_read_with_the_settings_of_others(digits, tmp_path):
    like = open_samples(digits, size=(14, 14)).settings
    source = open_samples(digits / "digit 3", like=like)
    assert source.shape == (14, 14)
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 14, 14)))
    assert open_samples(tmp_path / "a.npz", like=like).n_features == 196
    np.savez(tmp_path / "b.npz", X=np.zeros((2, 15, 14)))
    with pytest.raises(InputError, match=r"210 features.*196"):
        open_samples(tmp_path / "b.npz", like=like)


def test_hidden_folders_are_ignored(tone, tmp_path):
    tone(tmp_path / "a.wav", 400)
    (tmp_path / ".thumbs").mkdir()
    Image.new("L", (8, 8)).save(tmp_path / ".thumbs" / "a.png")
    assert open_samples(tmp_path).kind == "sounds"


def test_blocks_cover_all_rows(digits):
    whole = open_samples(digits).read_all()
    source = open_samples(digits, limits=ReaderLimits(block_bytes=4 * 784 * 4))
    assert [block.stop for block in source.blocks()] == [4, 6]
    np.testing.assert_array_equal(source.read_all(), whole)


def test_groups_are_read_from_file_names(digits):
    for path in digits.glob("*/*.png"):
        path.rename(path.with_name(f"patient{int(path.stem) // 2}_{path.name}"))
    names = open_samples(digits, groups="patient[0-9]+").groups
    assert names.tolist() == ["patient0", "patient0", "patient1"] * 2
    assert open_samples(digits, groups="patient([0-9]+)_").groups.tolist() == ["0", "0", "1"] * 2
    with pytest.raises(InputError, match="groups='slide' does not match the file name"):
        open_samples(digits, groups="slide")
    with pytest.raises(InputError, match=r"groups='\(' is not a regular expression"):
        open_samples(digits, groups="(")


KINDS = ("a.csv", "a.npz", "a.wav", "a.png", "a.tif", "a.parquet", "a.jpg")


def written(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "a,class\n", "no rows below the names"),
        ("a.csv", "a,class\n1,x\nred,y\n", "line 3: column 'a' has 'red'"),
        ("a.csv", "a,class\n1,x\nnan,y\n", "line 3: column 'a' has 'nan'"),
        ("a.csv", "a,class\n1,x\n1_5,y\n", "line 3: column 'a' has '1_5'"),
        ("a.csv", "a,class\n1,x\n,y\n", "line 3: column 'a' has ''"),
        ("a.csv", "a,class\n1,x\n2,\n", "line 3: column 'class' is empty"),
        ("a.csv", "a,class\n1,x\n2\n", "line 3: there are 1 fields, but 2 columns"),
        (
            "a.csv",
            "a,b\n1,2\n",
            "not clear which column is the class. Pass the parameter label, one of",
        ),
        (
            "a.csv",
            "class,y,a\n1,2,3\n",
            "not clear which column is the class. Pass the parameter label, one of",
        ),
        ("a.csv", "class\nx\n", "no columns besides"),
        ("a.csv", "a,a,class\n1,2,x\n", "two columns named 'a'"),
        ("a.csv", b"a,class\n1,\xff\xfe\n", "cannot be read as a CSV table"),
        ("a.csv", 'a,class\n1,"x\n', "cannot be read as a CSV table"),
        ("a.npz", b"no archive", "cannot be read as an NPZ file"),
        ("a.npz", b"", "cannot be read as an NPZ file"),
        ("a.npz", {"Z": np.zeros(3)}, "no array X; its arrays are 'Z'"),
        ("a.npz", {"X": np.zeros(3)}, "X has shape"),
        ("a.npz", {"X": np.zeros((0, 3))}, "X has shape"),
        ("a.npz", {"X": np.array([["a", "b"]])}, "X has shape"),
        ("a.npz", {"X": np.full((2, 3), np.nan)}, "row 0 of X"),
        ("a.npz", {"X": np.zeros((2, 3)), "y": np.zeros(3)}, "y has shape"),
        ("a.npz", {"X": np.zeros((2, 3)), "y": np.array([0, np.nan])}, "y has values"),
        ("a.npz", {"X": np.zeros((2, 1, 1, 1, 1))}, "5 axes"),
        ("a.npz", {"X": np.array([{}, {}], dtype=object)}, "contains Python objects"),
        ("a.parquet", b"PAR1", "Parquet"),
        ("a.txt", "text", "has the suffix .txt, which is not supported"),
    ],
)
def test_files_that_cannot_be_read_get_clear_errors(tmp_path, name, content, message):
    path = written(tmp_path / name, content)
    with pytest.raises(InputError, match=message) as error:
        open_samples(path)
    assert str(path) in str(error.value)


def test_folders_that_cannot_be_read_get_clear_errors(tone, tmp_path, digits):
    with pytest.raises(InputError, match="does not exist"):
        open_samples(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no PNG, JPEG or TIFF images and no WAV"):
        open_samples(tmp_path / "empty")
    Image.new("L", (28, 28)).save(digits / "loose.png")
    with pytest.raises(InputError, match=r"both in its subfolders and beside them.*loose\.png"):
        open_samples(digits)
    (digits / "loose.png").unlink()
    tone(digits / "digit 3" / "a.wav", 400)
    with pytest.raises(InputError, match="both images and sounds"):
        open_samples(digits)


@st.composite
def damaged(draw, content):
    """Change some bytes of a file, cut it, or add to it."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    content = content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content
    return bytes(content) + draw(st.binary(max_size=8))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", KINDS)
def test_any_file_is_read_or_gets_a_clear_error(intact_files, name, tmp_path):
    path = tmp_path / "folder" / name
    path.parent.mkdir()
    target = path if name.endswith(("csv", "npz", "parquet")) else path.parent

    @given(st.one_of(damaged(intact_files[name]), st.binary(max_size=60)))
    def check(content):
        path.write_bytes(content)
        try:
            rows = open_samples(target).read_all()
        except InputError as error:
            message = str(error)
            assert str(path.parent) in message
            assert "\n" not in message
        else:
            assert rows.ndim == 2
            assert np.isfinite(rows).all()

    check()
