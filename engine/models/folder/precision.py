"""Keeping a model's weights in 8 or 4 bit, where a library for it is installed.

The files on disk stay as they are; the library turns them into fewer bits as they are read. bitsandbytes does both (8
bit: Dettmers et al. 2022, LLM.int8(); 4 bit: Dettmers et al. 2023, QLoRA, NF4 with its constants quantised again),
torchao 8 bit of the weights alone. In 8 bit, which columns are kept in 16 depends on all rows that are read side by
side, so no claim that rows are independent can rest on such a model: it shows no logits to private prediction. What is
tuned is always tuned from the full numbers.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    import torch
    from transformers.utils.quantization_config import QuantizationConfigMixin

FEWER_BITS = ("8 bit", "4 bit")
SHARE = {"8 bit": 0.53, "4 bit": 0.28}  # of the memory in 16 bit, with the scale of each 64 numbers
_LIBRARIES = {"8 bit": ("bitsandbytes", "torchao"), "4 bit": ("bitsandbytes",)}


def checked_precision(precision: str) -> str:
    """Return a precision: `8 bit`, `4 bit`, or nothing for the full numbers; raises `UserError` for any other."""
    if precision not in ("", *FEWER_BITS):
        raise UserError(f"precision: must be empty, 8 bit or 4 bit, is {precision!r}")
    return precision


def library_for(precision: str) -> str:
    """Return the installed library that keeps weights in this many bits, or nothing."""
    return next((name for name in _LIBRARIES[precision] if find_spec(name) is not None), "")


def missing(precision: str) -> str:
    """Return what stands in the way of a precision on this machine, or nothing."""
    if not precision or library_for(precision):
        return ""
    return (
        f"its numbers are to be kept in {precision}, which needs the package {' or '.join(_LIBRARIES[precision])}: "
        "install one, or go back to the full numbers on the Models page"
    )


def quantised(precision: str, dtype: torch.dtype) -> QuantizationConfigMixin:
    """Return what tells the transformers library to keep weights in fewer bits.

    Raises:
        UserError: no library for it is installed.
    """
    why = missing(precision)
    if why:
        raise UserError(f"model: {why}")
    if library_for(precision) == "torchao":
        from torchao.quantization import Int8WeightOnlyConfig
        from transformers import TorchAoConfig

        return TorchAoConfig(Int8WeightOnlyConfig())
    from transformers import BitsAndBytesConfig

    if precision == "8 bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
    )
