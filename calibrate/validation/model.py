"""Decoders in plain PyTorch, in the eager form that most code has: one module a matrix, one kernel an operation.

Tokens are rows: activations are [tokens, hidden], tokens = sequences x length, so that tensor parallelism cuts rows. A model's
dimensions carry the keys of scenarios/llms/*.yaml.
"""
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from moe import Moe
from tensor_parallel import Whole


@dataclasses.dataclass(frozen=True)
class Dimensions:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    gpt: bool = False  # LayerNorm, biases, GELU, learned positions, query, key and value in one matrix; else as Llama
    length: int = 0    # rows of the learned positions
    tied: bool = False
    experts: int = 0
    top_k: int = 0

    def scenario(self):
        """As a file of scenarios/llms has it."""
        kind = "mha" if self.heads == self.kv_heads else "gqa"
        attention = {"kind": kind, "heads": self.heads, "kv_heads": self.kv_heads, "head_dim": self.head_dim, "bias": self.gpt,
                     "output_bias": self.gpt, "fused": self.gpt}
        out = {"layers": self.layers, "hidden": self.hidden, "vocabulary": self.vocabulary, "attention": attention,
               "positions": {"kind": "learned", "length": self.length} if self.gpt else {"kind": "rope"},
               "norm": "layernorm" if self.gpt else "rmsnorm", "tied": self.tied}
        if self.experts:
            out["moe"] = {"experts": self.experts, "top_k": self.top_k, "ffn": self.ffn}
        out["mlp"] = {"kind": "gelu" if self.gpt else "swiglu", "ffn": self.ffn, "bias": self.gpt, "fused": False}
        return out

    def matrix_parameters(self):
        """Elements of matrices that a token is multiplied by: head included, active experts only, no look-up."""
        attention = self.hidden * self.head_dim * (2 * self.heads + 2 * self.kv_heads)
        mlp = (2 if self.gpt else 3) * self.hidden * self.ffn
        if self.experts:
            mlp = self.top_k * mlp + self.hidden * self.experts
        return self.layers * (attention + mlp) + self.hidden * self.vocabulary

    def model_flop(self, sequence, sequences):
        """6 per matrix parameter and token, and 12 · layers · heads · head_dim · sequence of attention, not halved for the mask."""
        attention = 12 * self.layers * self.heads * self.head_dim * sequence
        return (6 * self.matrix_parameters() + attention) * sequence * sequences


SMALL = Dimensions(24, 1024, 16, 16, 64, 4096, 50304, gpt=True, length=1024, tied=True)  # GPT-2 medium, vocabulary padded to 128
LLAMA_1B = Dimensions(16, 2048, 32, 8, 64, 8192, 128256, tied=True)
LLAMA_8B = Dimensions(32, 4096, 32, 8, 128, 14336, 128256)
MODELS = {
    "gpt2_medium": SMALL,
    "llama_1b": LLAMA_1B,
    "llama_8b": LLAMA_8B,
    "mixtral": Dimensions(32, 4096, 32, 8, 128, 14336, 32000, experts=8, top_k=2),
    "qwen3_30b": Dimensions(48, 2048, 32, 4, 128, 768, 151936, experts=128, top_k=8),
    "tiny": Dimensions(24, 256, 4, 4, 64, 1024, 1024),  # nothing but launches
}


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, dim, sequence, compute, tp):
        super().__init__()
        heads, kv_heads = dim.heads // tp.size, dim.kv_heads // tp.size
        self.gpt, self.head_dim, self.sequence, self.tp = dim.gpt, dim.head_dim, sequence, tp
        self.grouped = dim.heads != dim.kv_heads
        if dim.gpt:
            self.qkv = nn.Linear(dim.hidden, 3 * heads * dim.head_dim)
        else:
            self.q = nn.Linear(dim.hidden, heads * dim.head_dim, bias=False)
            self.k = nn.Linear(dim.hidden, kv_heads * dim.head_dim, bias=False)
            self.v = nn.Linear(dim.hidden, kv_heads * dim.head_dim, bias=False)
            turn = torch.arange(sequence).float()[:, None] / 500000 ** (torch.arange(0, dim.head_dim, 2).float() / dim.head_dim)
            turn = torch.cat((turn, turn), dim=-1)
            self.register_buffer("cos", turn.cos().to(compute), persistent=False)
            self.register_buffer("sin", turn.sin().to(compute), persistent=False)
        self.o = nn.Linear(heads * dim.head_dim, dim.hidden, bias=dim.gpt)

    def forward(self, x):
        x = self.tp.enter(x)
        parts = self.qkv(x).chunk(3, dim=-1) if self.gpt else (self.q(x), self.k(x), self.v(x))
        q, k, v = (p.view(-1, self.sequence, p.shape[-1] // self.head_dim, self.head_dim).transpose(1, 2) for p in parts)
        if not self.gpt:
            q, k = rotate(q, self.cos, self.sin), rotate(k, self.cos, self.sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, **({"enable_gqa": True} if self.grouped else {}))
        return self.tp.leave(self.o(y.transpose(1, 2).reshape(-1, y.shape[1] * self.head_dim)))


class Mlp(nn.Module):
    def __init__(self, dim, tp):
        super().__init__()
        self.gpt, self.tp = dim.gpt, tp
        self.up = nn.Linear(dim.hidden, dim.ffn // tp.size, bias=dim.gpt)
        if not dim.gpt:
            self.gate = nn.Linear(dim.hidden, dim.ffn // tp.size, bias=False)
        self.down = nn.Linear(dim.ffn // tp.size, dim.hidden, bias=dim.gpt)

    def forward(self, x):
        x = self.tp.enter(x)
        y = F.gelu(self.up(x), approximate="tanh") if self.gpt else F.silu(self.gate(x)) * self.up(x)
        return self.tp.leave(self.down(y))


class Block(nn.Module):
    def __init__(self, dim, sequence, compute, tp, moe):
        super().__init__()
        norm = nn.LayerNorm if dim.gpt else nn.RMSNorm
        self.attention_norm = norm(dim.hidden, eps=1e-5)
        self.attention = Attention(dim, sequence, compute, tp)
        self.mlp_norm = norm(dim.hidden, eps=1e-5)
        self.mlp = Moe(dim.hidden, dim.ffn, dim.experts, dim.top_k, **moe) if dim.experts else Mlp(dim, tp)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Decoder(nn.Module):
    """The layers `first` to `last` - 1; the embedding goes with the first, norm, head and loss with the last. A part in between takes
    and gives [tokens, hidden]; the part with the head gives the loss, of one element."""

    def __init__(self, dim, sequence, compute, tp=None, moe=None, first=0, last=None, recompute="none"):
        super().__init__()
        last = dim.layers if last is None else last
        self.dim, self.sequence, self.tp, self.recompute = dim, sequence, tp or Whole(), recompute
        self.is_first, self.is_last = first == 0, last == dim.layers
        self.whole_logits = True  # False: the caller keeps them as they are cut (DTensor)
        self.targets = None       # of a pipeline's micro-batches, which are all the same
        if self.is_first:
            self.embedding = nn.Embedding(dim.vocabulary // self.tp.size, dim.hidden)
            if dim.gpt:
                self.positions = nn.Embedding(dim.length, dim.hidden)
        self.layers = nn.ModuleList(Block(dim, sequence, compute, self.tp, moe or {}) for _ in range(first, last))
        if self.is_last:
            self.norm = (nn.LayerNorm if dim.gpt else nn.RMSNorm)(dim.hidden, eps=1e-5)
            self.head = nn.Linear(dim.hidden, dim.vocabulary // self.tp.size, bias=False)
            if dim.tied and self.is_first:
                self.head.weight = self.embedding.weight

    def initialise(self):
        """Random values everywhere: zeros would run cooler, and faster."""
        for name, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)
            else:
                nn.init.constant_(p, 0.0 if name.endswith("bias") else 1.0)

    def embed(self, ids):
        x = self.tp.embed(self.embedding, ids.reshape(-1))
        if self.dim.gpt:
            x = x + self.positions(torch.arange(self.sequence, device=ids.device).repeat(ids.shape[0]))
        return x

    def loss(self, x, targets):
        logits = self.head(self.tp.enter(self.norm(x)))
        return self.tp.cross_entropy(logits.float(), targets.reshape(-1))

    def forward(self, x, targets=None):
        if self.is_first:
            x = self.embed(x)
        for layer in self.layers:
            if self.recompute == "full":
                x = checkpoint(layer, x, use_reentrant=False, preserve_rng_state=False)
            else:
                x = layer(x)
        if self.is_last:
            x = self.loss(x, self.targets if targets is None else targets)
            if targets is None:
                x = torch.stack((x,))  # a pipeline detaches it in place, so it is no view
        return x
