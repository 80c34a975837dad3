"""What is measured, the telling cases of each stage first. Stages by GPUs of a case: one (each GPU takes the next case), two (each
pair does), four.

Cases that the host bounds come first and without a trace, so that no profiler has run in their process; their traces are cases of
their own, later.

Keys: model, layers (of it), s tokens, mb sequences of a micro-batch, accumulate micro-batches; gpus, tp, sp, pp, vp, micros, schedule,
ep, dp_by (ddp | fsdp), tp_by (dtensor, else by hand); precision: bf16 (parameters, gradients, moments), fp32 (FSDP2: sharded fp32,
gathered in bf16), amp (fp32 with autocast); the rest as jobs.py reads it.
"""


def case(name, model, s, mb=1, gpus=1, **more):
    return dict(more, id=name, model=model, s=s, mb=mb, gpus=gpus)


def untraced(*cases):
    return [dict(c, untraced=True, kernels=False) for c in cases]


def traced(c):
    return dict(c, id=c["id"] + "_traced")


def one():
    gpt, small, wide = "gpt2_medium", "llama_1b", "llama_8b"
    bound = [case("tiny", "tiny", 128, 1, kernels=True), case("gpt_mb1", gpt, 1024, 1, kernels=True),
             case("gpt_mb4_full", gpt, 1024, 4, recompute="full"), case("1b_s2048_mb1", small, 2048, 1),
             case("gpt_mb4_compiled", gpt, 1024, 4, compile=True, kernels=True, limit_s=90)]
    return untraced(*bound, case("tiny_again", "tiny", 128, 1)) + [
        case("gpt_mb4", gpt, 1024, 4, kernels=True),
        case("1b_s2048_mb2", small, 2048, 2, kernels=True),
        case("8b_l8_s4096_mb1", wide, 4096, 1, layers=8, kernels=True),
        case("8b_l8_s8192_mb1", wide, 8192, 1, layers=8, kernels=True),
        case("8b_l16_s8192_mb1", wide, 8192, 1, layers=16),
        case("1b_s2048_mb4", small, 2048, 4),
        case("1b_s4096_mb1", small, 4096, 1),
        case("1b_s4096_mb2", small, 4096, 2),
        case("8b_l8_s4096_mb2", wide, 4096, 2, layers=8),
        case("8b_l8_s4096_mb4", wide, 4096, 4, layers=8),
        case("8b_l8_s8192_mb2", wide, 8192, 2, layers=8),
        case("8b_l16_s4096_mb1", wide, 4096, 1, layers=16),
        case("8b_l8_s8192_mb1_full", wide, 8192, 1, layers=8, recompute="full"),
        case("8b_l16_s8192_mb2_full", wide, 8192, 2, layers=16, recompute="full"),
        case("8b_l8_s8192_mb1_cudnn", wide, 8192, 1, layers=8, attention="cudnn", kernels=True),
        case("1b_s2048_mb2_amp", small, 2048, 2, precision="amp", kernels=True),
        case("1b_s2048_mb2_foreach", small, 2048, 2, adamw="foreach"),
        case("1b_s2048_mb2_accumulate4", small, 2048, 2, accumulate=4),
        case("gpt_mb8", gpt, 1024, 8),
        case("gpt_mb16", gpt, 1024, 16),
        case("mixtral_l2_s4096_mb1_loop", "mixtral", 4096, 1, layers=2, kernels=True),
        case("mixtral_l2_s4096_mb1_grouped", "mixtral", 4096, 1, layers=2, grouped=True, kernels=True),
        case("8b_l8_s8192_mb1_compiled", wide, 8192, 1, layers=8, compile=True, kernels=True, limit_s=90),
        case("1b_s16384_mb1", small, 16384, 1),
        case("8b_l4_s16384_mb1", wide, 16384, 1, layers=4),
        case("1b_s2048_mb2_compiled", small, 2048, 2, compile=True, kernels=True, limit_s=90),
        *map(traced, bound),
        case("gpt_mb4_again", gpt, 1024, 4),
        case("1b_s2048_mb2_again", small, 2048, 2),
        case("8b_l8_s8192_mb1_again", wide, 8192, 1, layers=8),
    ]


def two():
    small, wide = "llama_1b", "llama_8b"
    return [
        case("ddp2_1b", small, 2048, 2, 2, dp_by="ddp"),
        case("fsdp2_8b_l8", wide, 4096, 1, 2, layers=8, dp_by="fsdp", precision="fp32"),
        case("tp2_8b_l8", wide, 8192, 1, 2, layers=8, tp=2),
        case("pp2_8b_l8_1f1b_m4", wide, 4096, 1, 2, layers=8, pp=2, schedule="1f1b", micros=4),
        case("tp2_8b_l8_sp", wide, 8192, 1, 2, layers=8, tp=2, sp=True),
        case("ddp2_8b_l8", wide, 4096, 1, 2, layers=8, dp_by="ddp"),
        case("fsdp2_1b", small, 2048, 2, 2, dp_by="fsdp", precision="fp32"),
        case("ep2_mixtral_l2", "mixtral", 4096, 1, 2, layers=2, ep=2, dp_by="ddp", grouped=True),
    ]


def four():
    gpt, small, wide = "gpt2_medium", "llama_1b", "llama_8b"

    def ddp(name, model, s, mb, **more):
        return case(name, model, s, mb, 4, dp_by="ddp", **more)

    def fsdp(name, model, s, mb, **more):
        return case(name, model, s, mb, 4, dp_by="fsdp", precision="fp32", **more)

    def pp(name, schedule, micros, **more):
        return case(name, more.pop("model", wide), more.pop("s", 4096), 1, 4, pp=more.pop("pp", 4), schedule=schedule, micros=micros,
                    **{"layers": 16, **more})

    bound = [fsdp("fsdp4_gpt_mb4", gpt, 1024, 4), ddp("ddp4_gpt_mb4", gpt, 1024, 4), fsdp("fsdp4_1b", small, 2048, 2),
             case("tp4_1b_sp", small, 4096, 1, 4, tp=4, sp=True), case("tp4_1b", small, 4096, 1, 4, tp=4)]
    even = {"vocabulary": 4096}  # embedding and head are next to nothing: all stages take as long
    return [
        {"id": "collectives", "kind": "collectives", "gpus": 4},
        *untraced(*bound),
        ddp("ddp4_1b", small, 2048, 2),
        fsdp("fsdp4_8b_l8", wide, 4096, 1, layers=8),
        case("tp4_8b_l8", wide, 8192, 1, 4, layers=8, tp=4),
        pp("pp4_8b_l16_1f1b_m8", "1f1b", 8),
        case("ep4_mixtral_l2", "mixtral", 4096, 1, 4, layers=2, ep=4, dp_by="ddp", grouped=True),
        case("tp4_8b_l8_sp", wide, 8192, 1, 4, layers=8, tp=4, sp=True),
        pp("pp4_8b_l16_interleaved_m8", "interleaved", 8, vp=2),
        case("tp2dp2_8b_l8", wide, 4096, 1, 4, layers=8, tp=2, dp_by="ddp"),
        ddp("ddp4_8b_l8", wide, 4096, 1, layers=8),
        fsdp("fsdp4_8b_l8_bf16", wide, 4096, 1, layers=8, reduce="bfloat16"),
        fsdp("fsdp4_8b_l8_kept", wide, 4096, 1, layers=8, reshard=False),
        pp("pp4_even_1f1b_m8", "1f1b", 8, **even),
        pp("pp4_even_interleaved_m8", "interleaved", 8, vp=2, **even),
        pp("pp4_even_zbv_m8", "zb_v", 8, vp=2, **even),
        pp("pp4_even_gpipe_m8", "gpipe", 8, **even),
        pp("pp4_even_zb_h1_m8", "zb_h1", 8, **even),
        pp("pp4_even_1f1b_m4", "1f1b", 4, **even),
        pp("pp4_8b_l16_gpipe_m8", "gpipe", 8),
        pp("pp4_8b_l16_zbv_m8", "zb_v", 8, vp=2),
        ddp("ddp4_1b_b5", small, 2048, 2, bucket_MiB=5),
        ddp("ddp4_1b_b100", small, 2048, 2, bucket_MiB=100),
        ddp("ddp4_1b_at_end", small, 2048, 2, bucket_MiB=100000),
        ddp("ddp4_1b_copies", small, 2048, 2, bucket_view=False),
        ddp("ddp4_1b_accumulate4", small, 2048, 2, accumulate=4),
        ddp("ddp4_1b_accumulate4_each", small, 2048, 2, accumulate=4, reduce_each=True),
        ddp("ddp4_1b_amp", small, 2048, 2, precision="amp"),
        fsdp("fsdp4_8b_s8192", wide, 8192, 1),
        fsdp("fsdp4_8b_s4096", wide, 4096, 1),
        fsdp("fsdp4_8b_s8192_full", wide, 8192, 1, recompute="full"),
        fsdp("hsdp4_8b_l8", wide, 4096, 1, layers=8, hsdp=2),
        fsdp("fsdp4_8b_l8_accumulate2", wide, 4096, 1, layers=8, accumulate=2),
        case("tp4_8b_s8192", wide, 8192, 1, 4, tp=4),
        case("tp4_8b_l8_dtensor", wide, 8192, 1, 4, layers=8, tp=4, tp_by="dtensor"),
        case("tp4_8b_l8_sp_dtensor", wide, 8192, 1, 4, layers=8, tp=4, sp=True, tp_by="dtensor"),
        case("tp2dp2_8b_l8_sp", wide, 4096, 1, 4, layers=8, tp=2, sp=True, dp_by="ddp"),
        pp("pp4_8b_l16_1f1b_m4", "1f1b", 4),
        pp("pp4_8b_l16_gpipe_m4", "gpipe", 4),
        pp("pp4_8b_l16_interleaved_m4", "interleaved", 4, vp=2),
        pp("pp4_8b_l32_1f1b_m8", "1f1b", 8, layers=32),
        pp("pp4_8b_l16_zb_h1_m8", "zb_h1", 8, vp=1),
        pp("pp2dp2_8b_l8_1f1b_m4", "1f1b", 4, pp=2, layers=8, dp_by="ddp"),
        pp("pp4_8b_l16_1f1b_m8_full", "1f1b", 8, recompute="full"),
        case("ep4_mixtral_l2_loop", "mixtral", 4096, 1, 4, layers=2, ep=4, dp_by="ddp"),
        case("ep4_mixtral_l2_routed", "mixtral", 4096, 1, 4, layers=2, ep=4, dp_by="ddp", balanced=False),
        case("ep4_mixtral_l4_s8192", "mixtral", 8192, 1, 4, layers=4, ep=4, dp_by="ddp", grouped=True),
        case("ep4_qwen3_l8", "qwen3_30b", 4096, 2, 4, layers=8, ep=4, dp_by="ddp", grouped=True),
        {"id": "interference", "kind": "interference", "gpus": 4},
        ddp("ddp4_8b_l16_s8192", wide, 8192, 1, layers=16),
        ddp("ddp4_mixtral_l2", "mixtral", 4096, 1, layers=2, grouped=True),
        ddp("ddp4_gpt_mb16", gpt, 1024, 16),
        *map(traced, bound),
        pp("pp4_even_interleaved_m16", "interleaved", 16, vp=2, **even),
        pp("pp4_even_interleaved_m8_v4", "interleaved", 8, vp=4, **even),
        pp("pp4_8b_l16_interleaved_m8_v4", "interleaved", 8, vp=4),
        pp("pp4_even_interleaved_m4_s8192", "interleaved", 4, vp=2, s=8192, **even),
        pp("pp4_even_interleaved_m8_full", "interleaved", 8, vp=2, recompute="full", **even),
        pp("pp4_even_zbv_m16", "zb_v", 16, vp=2, **even),
        pp("pp4_even_zbv_m8_s8192", "zb_v", 8, vp=2, s=8192, **even),
        pp("pp4_even_zb_h1_m16", "zb_h1", 16, **even),
        pp("pp4_even_1f1b_m16", "1f1b", 16, **even),
        pp("pp4_even_dualpipe_v_m16", "dualpipe_v", 16, vp=2, **even),
        pp("pp4_8b_l16_dualpipe_v_m8", "dualpipe_v", 8, vp=2),
        pp("pp2dp2_8b_l8_interleaved_m4", "interleaved", 4, pp=2, vp=2, layers=8, dp_by="ddp"),
        pp("pp2dp2_8b_l8_zbv_m8", "zb_v", 8, pp=2, vp=2, layers=8, dp_by="ddp"),
        ddp("ddp4_1b_again", small, 2048, 2),
        fsdp("fsdp4_8b_l8_again", wide, 4096, 1, layers=8),
        pp("pp4_8b_l16_1f1b_m8_again", "1f1b", 8),
    ]


def smoke():
    """One of each kind, small: does it run at all, do the numbers make sense."""
    pick = {1: ("gpt_mb4", "8b_l8_s8192_mb1_cudnn", "1b_s2048_mb2_amp", "mixtral_l2_s4096_mb1_grouped"),
            2: ("tp2_8b_l8_sp", "pp2_8b_l8_1f1b_m4"),
            4: ("ddp4_1b", "fsdp4_8b_l8", "tp4_8b_l8", "pp4_8b_l16_interleaved_m8", "ep4_mixtral_l2", "pp4_8b_l16_zbv_m8",
                "tp4_8b_l8_sp_dtensor", "tp2dp2_8b_l8", "pp2dp2_8b_l8_1f1b_m4", "pp4_8b_l16_zb_h1_m8", "hsdp4_8b_l8",
                "ep4_mixtral_l2_routed", "collectives", "interference")}
    return {gpus: [c for c in stage() if c["id"] in pick[gpus]] for gpus, stage in ((1, one), (2, two), (4, four))}
