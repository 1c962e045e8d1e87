# Written by `python -m privcore.faces.estimators.stub` from the registry of algorithms.

from typing import Literal

from privcore.faces.estimators.base import Estimator as Estimator

ESTIMATORS: dict[str, type[Estimator]]

class PC(Estimator):
    def __init__(
        self,
        *,
        hidden_causes: bool = False,
        threshold: float = 0.05,
        knowledge: str = "",
        max_order: int | None = 3,
        stable: bool = True,
        collider_rule: Literal["majority", "conservative", "union", "first"] = "majority",
        conflict_rule: Literal[
            "strength",
            "drop",
            "bi-directed",
            "keep first",
            "overwrite",
        ] = "strength",
        in_turn: bool = False,
        score: Literal[
            "z-star",
            "kendall",
            "kendall-fixed",
            "spearman",
            "spearman-fixed",
            "g2",
            "chi2",
            "fisher-z",
            "lines",
        ]
        | None = None,
        mixed_levels: int = 4,
        target: str = "",
        random_state: int | None = None,
    ) -> None: ...

class MomentSearch(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        false_edges: float = 0.03,
        hidden_causes: bool = False,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        threshold: float = 0.03,
        candidate_level: float = 0.15,
        whole_table: int = 2048,
        table_share: float = 0.45,
        table_noise_ratio: float = 100.0,
        penalty: float = 3.0,
        max_parents: int = 4,
        measured: Literal["levels", "lines", "distances", "target"] | None = None,
        longest_row: float | None = None,
        reference_effect: float = 0.1,
        max_order: int | None = 3,
        target: str = "",
        random_state: int | None = None,
    ) -> None: ...

class LaplacePC(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
            "g2-median",
            "chi2-median",
            "kendall",
            "spearman",
        ]
        | None = None,
        blocks: int = 51,
        max_order: int | None = 1,
        stable: bool = True,
        space: Literal["z", "p"] = "z",
        correction: Literal["none", "ties", "ties and noise"] = "none",
        max_tests: int | None = None,
        random_state: int | None = None,
    ) -> None: ...

class SVTPC(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
            "kendall",
            "spearman",
        ]
        | None = None,
        blocks: int = 51,
        max_order: int | None = 3,
        stable: bool = True,
        space: Literal["z", "p"] = "z",
        correction: Literal["none", "ties", "ties and noise"] = "none",
        max_deletions: int | None = None,
        random_state: int | None = None,
    ) -> None: ...

class PrivPC(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        tweak: float = 1.0,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
            "kendall",
            "spearman",
        ]
        | None = None,
        blocks: int = 51,
        max_order: int | None = 3,
        stable: bool = True,
        space: Literal["z", "p"] = "z",
        correction: Literal["none", "ties", "ties and noise"] = "none",
        rate_mode: Literal["fixed", "optimised"] = "fixed",
        rate: float = 1.0,
        max_rounds: int | None = None,
        sieve_share: float = 0.5,
        random_state: int | None = None,
    ) -> None: ...

class SGPC(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
            "kendall",
            "spearman",
        ]
        | None = None,
        blocks: int = 51,
        max_order: int | None = 1,
        stable: bool = True,
        space: Literal["z", "p"] = "z",
        correction: Literal["none", "ties", "ties and noise"] = "none",
        rate: float = 1.0,
        max_tests: int | None = None,
        random_state: int | None = None,
    ) -> None: ...

class EMPC(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
        ]
        | None = None,
        blocks: int = 51,
        selection: Literal["exponential", "permute-and-flip"] = "exponential",
        number_share: float = 0.5,
        direction_share: float = 0.2,
        max_order: int | None = 2,
        random_state: int | None = None,
    ) -> None: ...

class LapMech(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        hidden_causes: bool = False,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        max_order: int | None = 3,
        stable: bool = True,
        collider_rule: Literal["majority", "conservative", "union", "first"] = "majority",
        conflict_rule: Literal[
            "strength",
            "drop",
            "bi-directed",
            "keep first",
            "overwrite",
        ] = "strength",
        in_turn: bool = False,
        score: Literal[
            "z-star",
            "kendall",
            "kendall-fixed",
            "spearman",
            "spearman-fixed",
            "g2",
            "chi2",
        ] = "g2",
        table_noise: Literal["discrete", "laplace"] = "discrete",
        random_state: int | None = None,
    ) -> None: ...

class PrivPCStar(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        hidden_causes: bool = False,
        mechanism: Literal["gaussian", "laplace"] = "gaussian",
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        max_order: int | None = 3,
        stable: bool = True,
        collider_rule: Literal["majority", "conservative", "union", "first"] = "majority",
        conflict_rule: Literal[
            "strength",
            "drop",
            "bi-directed",
            "keep first",
            "overwrite",
        ] = "strength",
        in_turn: bool = False,
        radius: float = 0.5,
        centring: Literal["released", "middle"] = "released",
        null: Literal["sampling", "sampling and noise"] | None = None,
        random_state: int | None = None,
    ) -> None: ...

class CURATE(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        delta: float = 1e-06,
        threshold: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        score: Literal[
            "z-star",
            "kendall-fixed",
            "spearman-fixed",
            "g2-votes",
            "chi2-votes",
            "kendall",
            "spearman",
        ]
        | None = None,
        blocks: int = 51,
        max_order: int | None = 3,
        stable: bool = True,
        space: Literal["z", "p"] = "z",
        correction: Literal["none", "ties", "ties and noise"] = "none",
        beta_keep: float = 0.1,
        beta_delete: float = 0.1,
        slack: float = 0.1,
        noise_limit: float = 10.0,
        rate: float = 1.0,
        random_state: int | None = None,
    ) -> None: ...

class NOTEARS(Estimator):
    def __init__(
        self,
        *,
        sparsity: float | None = None,
        weight_threshold: float | None = None,
        knowledge: str = "",
        units: Literal["original", "bounds", "unit variance"] = "original",
        iterations: int = 100,
        degenerate: Literal["refuse", "keep"] = "refuse",
        random_state: int | None = None,
    ) -> None: ...

class NOLEAKS(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        sparsity: float | None = None,
        weight_threshold: float | None = None,
        delta: float = 1e-06,
        gradients: int = 100,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        units: Literal["original", "bounds"] = "original",
        clip: float | None = None,
        entry_clip: float = 1.0,
        step_rule: Literal["fixed", "line search"] | None = None,
        step: float = 0.1,
        stages: int = 10,
        centring: Literal["released", "middle"] = "released",
        reach: float | None = None,
        weight_limit: float = 2.0,
        random_state: int | None = None,
    ) -> None: ...

class CURATEScore(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven", "published"] = "proven",
        epsilon: float = 1.0,
        sparsity: float | None = None,
        weight_threshold: float | None = None,
        delta: float = 1e-06,
        gradients: int = 100,
        schedule: Literal["additive", "exponential", "multiplicative"] = "multiplicative",
        first_epsilon: float = 0.05,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        units: Literal["original", "bounds"] = "original",
        clip: float | None = None,
        entry_clip: float = 1.0,
        step_rule: Literal["fixed", "line search"] | None = None,
        step: float = 0.1,
        stages: int = 10,
        centring: Literal["released", "middle"] = "released",
        reach: float | None = None,
        weight_limit: float = 2.0,
        growth: float = 4.0,
        random_state: int | None = None,
    ) -> None: ...

class MomentNOTEARS(Estimator):
    def __init__(
        self,
        *,
        calibration: Literal["proven"] = "proven",
        epsilon: float = 1.0,
        sparsity: float | None = None,
        weight_threshold: float | None = None,
        delta: float = 1e-06,
        knowledge: str = "",
        rows_per_unit: int | None = None,
        neighbours: Literal["replaced", "added or removed"] = "replaced",
        units: Literal["original", "bounds", "unit variance"] = "original",
        iterations: int = 100,
        radius: float | None = None,
        random_state: int | None = None,
    ) -> None: ...
