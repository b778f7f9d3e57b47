"""What a product takes over of the run that it was made of."""

import numpy as np
import pytest

from heldout.compress.product import begin, open_origin
from heldout.data.fitted import TRAIN_NUMBERS, TRAIN_TEXTS, read_fitted
from heldout.ledger import Ledger
from heldout.runs import write_json
from heldout.tasks import load_task


@pytest.mark.parametrize("name", [TRAIN_TEXTS, TRAIN_NUMBERS])
def test_a_product_knows_what_its_run_was_trained_on(sentiment_run, copy_of, tmp_path, name):
    run, out = copy_of(sentiment_run), tmp_path / "product"
    if name == TRAIN_TEXTS:
        write_json(run / name, ["000000000000000f"])
    else:
        np.save(run / name, np.array([2**40], np.uint64))
    begin(open_origin(run, load_task), out, {}, {}, Ledger())
    (train, _), (ours, _) = read_fitted(run), read_fitted(out)
    assert ours.texts.tolist() == train.texts.tolist() != []
