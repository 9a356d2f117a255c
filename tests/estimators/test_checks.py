"""Every estimator passes scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from invarlearn import OrbitSVC, OrbitSVR, TangentDistanceClassifier, VirtualSVC
from invarlearn.features import OrientedGradients
from invarlearn.transforms import CyclicShift


@parametrize_with_checks(
    [
        # a tight tol, since one check wants weights and repeats to agree to 1e-7
        VirtualSVC(tol=1e-12),
        VirtualSVC(CyclicShift(step=2), tol=1e-12),
        VirtualSVC(CyclicShift(step=2), support_only=True, tol=1e-12),
        OrbitSVC(normalize=False),
        OrbitSVC(CyclicShift(step=2), normalize=False),
        OrbitSVC(CyclicShift(step=2), pooling="mean", normalize=False),
        OrbitSVC(CyclicShift(step=2), normalize=False, probability=True),
        OrbitSVR(normalize=False),
        OrbitSVR(CyclicShift(step=2), normalize=False, psd="flip"),
        OrientedGradients(shape=(1, -1)),
        TangentDistanceClassifier(CyclicShift()),
        TangentDistanceClassifier(CyclicShift(), sides=1, n_neighbors=3),
    ]
)
def test_scikit_learn_compatible(estimator, check):
    check(estimator)
