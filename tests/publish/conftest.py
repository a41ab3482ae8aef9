"""A published sample, and the manifest that it is of."""

from pathlib import Path

import pytest

from envgen.publish import dataset

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "manifest.parquet"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The released corpus as a data set of three shards; not to be changed."""
    folder = tmp_path_factory.mktemp("published") / "sample"
    dataset.write(SAMPLE, folder, "sample", rows=7)
    return folder
