"""The film of the documentation: a frame for each ε, small, and the same each time."""

from io import BytesIO

import pytest
from PIL import Image

from benchmarks.film import film


@pytest.mark.long
def test_the_film_has_a_frame_for_each_epsilon():
    made = film((0.1, 10.0))
    assert film((0.1, 10.0)) == made
    with Image.open(BytesIO(made)) as picture:
        assert (picture.n_frames, picture.size, picture.info["loop"]) == (2, (960, 540), 0)
        first = picture.convert("RGB").tobytes()
        picture.seek(1)
        assert picture.convert("RGB").tobytes() != first
    assert len(made) < 100_000
