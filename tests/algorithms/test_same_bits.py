"""The same noise gives the same findings bit for bit, whatever state the process is in."""

from threading import Thread

import numpy as np
from threadpoolctl import threadpool_info

from privcore.threads import one_thread


def blas_threads():
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


def test_one_thread_stays_one_until_the_last_run_ends():
    """Else the end of one session's run would change the last bits of another's."""
    np.linalg.eigh(np.eye(3))
    before = blas_threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    ends = Thread(target=lambda: (second.__enter__(), first.__exit__(None, None, None)))
    ends.start()
    ends.join()
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before
