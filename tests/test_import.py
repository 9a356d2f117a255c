"""Importing the library is cheap: heavy modules are imported when they are used."""

import subprocess
import sys

HEAVY = ["numba", "matplotlib", "typer", "pooch", "rich", "dask", "skops"]


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(m for m in {HEAVY} if m in sys.modules))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_heavy_modules_are_not_imported():
    assert loaded_after("import invarlearn") == []
    estimators = "from invarlearn import VirtualSVC, TangentDistanceClassifier"
    ours = loaded_after(f"{estimators}; import invarlearn.transforms, invarlearn.datasets")
    # scikit-learn may import some of them
    assert set(ours) <= set(loaded_after("import sklearn.svm"))


def test_public_names_can_be_imported():
    import invarlearn

    for name in invarlearn.__all__:
        assert getattr(invarlearn, name) is not None
    assert set(invarlearn.__all__) <= set(dir(invarlearn))


def test_an_unknown_name_is_an_attribute_error():
    import pytest

    import invarlearn

    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = invarlearn.Nothing


def test_public_names_document_their_parameters():
    import inspect

    import invarlearn
    from invarlearn import datasets, transforms

    for module in (invarlearn, transforms, datasets):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), name
            if isinstance(thing, type) and issubclass(thing, transforms.Family):
                for parameter in thing._get_param_names():
                    assert parameter in thing.__doc__, (name, parameter)
