"""Makes a differentially private copy of a table with dpmm; a script, run by dpmm's own Python.

    python synthesiser.py METHOD EPSILON DELTA ROWS SEED FOLDER [COST]

METHOD is mst (McKenna, Miklau & Sheldon 2021) or aim (McKenna et al. 2022), on Private-PGM.  Reads
`codes`, shape (n, p), and `levels`, shape (p,), from FOLDER/data.npz, writes ROWS rows of codes to
FOLDER/synthetic.npy, and prints {"seconds": processor time of the fit and the rows}.  All levels
are given to the method as public.  SEED is for what dpmm draws with numpy; its Gaussian noise comes
from OpenDP, which takes none.  COST, 1 unless given: the budget is lowered until, in zCDP and
multiplied by COST, it is (EPSILON, DELTA).
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402 (the number of threads is read when it is imported)

# Steps of mirror descent.  dpmm takes 2,500 for MST's one-way tables, 1,000 for each round of AIM,
# where every round starts from the last, and 5,000 or 1,000 for the model in the end, which would
# take five times as long.  Of 100,000 rows of asia the fewer steps move no cell of a one-way table
# by one row, and none of MST's tables by 30; a round of AIM on cancer at epsilon 0.1 ends within
# about one standard deviation of its own noise of where 600 steps end.
_BETWEEN = {"mst": 200, "aim": 100}
_FINAL = 1000


def synthesised(
    method: str, codes: Any, levels: Any, epsilon: float, delta: float, rows: int, seed: int
) -> Any:
    pandas = importlib.import_module("pandas")
    module: Any = importlib.import_module(f"dpmm.models.{method}")
    engine = module.FactoredInference

    def shortened(domain: Any, iters: int, **given: Any) -> Any:
        return engine(domain, iters=_BETWEEN[method], **given)

    module.FactoredInference = shortened
    names = [f"c{column}" for column in range(codes.shape[1])]
    model = getattr(module, f"{method.upper()}GM")(
        epsilon=epsilon,
        delta=delta,
        domain={name: int(count) for name, count in zip(names, levels, strict=True)},
        n_iters=_FINAL,
        n_jobs=1,
    )
    model.set_random_state(np.random.RandomState(seed))
    model.fit(pandas.DataFrame(codes.astype(np.int64), columns=names))
    return model.generate(rows)[names].to_numpy()


def lowered(epsilon: float, delta: float, cost: float) -> float:
    """The ε of which `cost` times the zCDP budget is that of (epsilon, delta), as dpmm converts."""
    conversion: Any = importlib.import_module("dpmm.models.base.mechanisms.cdp2adp")
    return float(conversion.cdp_eps(conversion.cdp_rho(epsilon, delta) / cost, delta))


def main() -> None:
    method, epsilon, delta, rows, seed, given, *cost = sys.argv[1:]
    folder = Path(given)
    stated = lowered(float(epsilon), float(delta), float(cost[0])) if cost else float(epsilon)
    with np.load(folder / "data.npz") as data:
        codes, levels = data["codes"], data["levels"]
    start = time.process_time()
    made = synthesised(method, codes, levels, stated, float(delta), int(rows), int(seed))
    seconds = time.process_time() - start
    np.save(folder / "synthetic.npy", made)
    print(json.dumps({"seconds": seconds}), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    # Whatever the library prints goes where it does not mix with the answer.
    sys.stdout = sys.stderr
    main()
