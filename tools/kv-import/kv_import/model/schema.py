"""Every key of a file of settings that the importer reads: its type and its range.

    settings = checked(HuggingFace, raw, "config.json")

gives the keys of `raw` that the schema names, or fails with one sentence. A value of null is a key that is
missing. What one key allows is checked here and nowhere else; what several must be together is checked where
they are read."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import ImportFailure

MOST = 2**31 - 1  # of an i32
SHOWN = 80  # characters of a value that a sentence shows

Flag = Annotated[bool, Field(description="true or false")]
Text = Annotated[str, Field(description="a text")]
Texts = Annotated[list[str], Field(description="a list of texts")]
Count = Annotated[int, Field(ge=1, le=MOST, description="a positive integer of 31 bits")]
CountOrNone = Annotated[int, Field(ge=0, le=MOST, description="an integer from 0 on, of 31 bits")]
# A longer list of layers is more likely a damaged number than a model.
LayerCount = Annotated[int, Field(ge=1, le=10000, description="a positive integer up to 10000")]
TokenId = Annotated[int, Field(ge=0, le=MOST, description="a token id")]
# Computed in f32, also its inverse, its square and its root.
Real = Annotated[float, Field(ge=1e-15, le=1e15, description="a positive number from 1e-15 to 1e15")]
Share = Annotated[float, Field(gt=0, le=1, description="a number above 0, at most 1")]
Base = Annotated[float, Field(gt=1, le=1e15, description="a number above 1, at most 1e15")]
Reals = Annotated[list[Real], Field(description="a list of positive numbers")]
Ids = Annotated[TokenId | list[TokenId], Field(description="a token id, or a list of them")]
Flags = Annotated[list[Annotated[int, Field(ge=0, le=1)]], Field(description="a list of 0 and 1")]
Layers = Annotated[list[CountOrNone], Field(description="a list of layers")]


class Settings(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, protected_namespaces=())


class Rope(Settings):
    """rope_parameters, rope_scaling, or what is said of layers of one kind."""
    rope_type: Text = None
    type: Text = None
    rope_theta: Base = None
    partial_rotary_factor: Share = None
    factor: Real = None
    low_freq_factor: Real = None
    high_freq_factor: Real = None
    original_max_position_embeddings: Annotated[int, Field(
        ge=2, le=MOST, description="an integer from 2 on")] = None
    attention_factor: Real = None
    beta_fast: Real = None
    beta_slow: Real = None
    truncate: Flag = None
    mscale: CountOrNone | Real = None
    mscale_all_dim: CountOrNone | Real = None
    short_factor: Reals = None
    long_factor: Reals = None
    llama_4_scaling_beta: Real = None
    alpha: Real = None


class Ropes(Rope):
    """The same; where layers of several kinds differ, under the name of each."""
    full_attention: Annotated[Rope, Field(description="an object")] = None
    sliding_attention: Annotated[Rope, Field(description="an object")] = None


OneRope = Annotated[Ropes, Field(description="an object")]


class SpecialTokens(Settings):
    """Of config.json of any family."""
    bos_token_id: Ids = None
    eos_token_id: Ids = None


class HuggingFace(SpecialTokens):
    """config.json of one model of text."""
    model_type: Text = None
    architectures: Texts = None
    vocab_size: Count = None
    hidden_size: Count = None
    intermediate_size: Count = None
    num_hidden_layers: LayerCount = None
    num_attention_heads: Count = None
    num_key_value_heads: Count = None
    head_dim: Count = None
    max_position_embeddings: Count = None
    original_max_position_embeddings: Count = None
    rms_norm_eps: Real = None
    tie_word_embeddings: Flag = None
    hidden_act: Text = None
    hidden_activation: Text = None
    attention_bias: Flag = None
    attention_out_bias: Flag = None
    mlp_bias: Flag = None
    use_bias: Flag = None
    use_qk_norm: Flag = None
    clip_qkv: Real = None
    # Positions and windows.
    rope_theta: Base = None
    rope_parameters: OneRope = None
    rope_scaling: OneRope = None
    rope_local_base_freq: Base = None
    rope_interleave: Flag = None
    partial_rotary_factor: Share = None
    rotary_dim: Count = None
    position_embedding_type: Text = None
    no_rope_layers: Flags = None
    no_rope_layer_interval: Count = None
    sliding_window: CountOrNone = None  # some write 0 where there is none
    use_sliding_window: Flag = None
    # A text where layer_types says the same.
    sliding_window_pattern: Annotated[CountOrNone | str, Field(description="a positive integer")] = None
    max_window_layers: CountOrNone = None
    layer_types: Texts = None
    # Scales and caps.
    embedding_multiplier: Real = None
    residual_multiplier: Real = None
    attention_multiplier: Real = None
    logits_scaling: Real = None
    query_pre_attn_scalar: Real = None
    attn_logit_softcapping: Real = None
    final_logit_softcapping: Real = None
    swiglu_alpha: Real = None
    swiglu_limit: Real = None
    use_bidirectional_attention: Flag = None
    # Experts.
    moe_intermediate_size: Count = None
    shared_intermediate_size: CountOrNone = None
    shared_expert_intermediate_size: CountOrNone = None
    num_experts: CountOrNone = None
    num_local_experts: CountOrNone = None
    n_routed_experts: CountOrNone = None
    n_shared_experts: CountOrNone = None
    num_experts_per_tok: CountOrNone = None
    norm_topk_prob: Flag = None
    routed_scaling_factor: Real = None
    n_group: Count = None
    topk_group: Count = None
    topk_method: Text = None
    scoring_func: Text = None
    moe_layer_freq: Count = None
    decoder_sparse_step: Count = None
    mlp_only_layers: Layers = None
    first_k_dense_replace: CountOrNone = None
    num_nextn_predict_layers: CountOrNone = None
    # Latents.
    kv_lora_rank: Count = None
    q_lora_rank: Count = None
    qk_rope_head_dim: Count = None
    qk_nope_head_dim: Count = None
    v_head_dim: Count = None
    # Layers with a state.
    full_attention_interval: Count = None
    linear_conv_kernel_dim: Count = None
    linear_num_key_heads: Count = None
    linear_key_head_dim: Count = None
    linear_num_value_heads: Count = None
    linear_value_head_dim: Count = None
    attn_layer_indices: Layers = None
    mamba_expand: Count = None
    mamba_n_heads: Count = None
    mamba_n_groups: Count = None
    mamba_d_head: Annotated[Count | Literal["auto"], Field(
        description='a positive integer of 31 bits, or "auto"')] = None
    mamba_d_state: Count = None
    mamba_d_conv: Count = None
    mamba_proj_bias: Flag = None
    mamba_conv_bias: Flag = None


class AnyModel(Settings):
    """config.json of a model that is taken through its PyTorch code."""
    model_type: Text = None
    vocab_size: Count = None
    max_position_embeddings: Count = None
    n_positions: Count = None


class Index(Settings):
    """model.safetensors.index.json."""
    weight_map: Annotated[dict[str, str], Field(description="an object of names of files")] = {}


class FourBits(Settings):
    """The state of a matrix that bitsandbytes has packed."""
    quant_type: Annotated[Literal["nf4", "fp4"], Field(description="nf4 or fp4")] = None
    blocksize: Count = None
    shape: Annotated[list[Count], Field(description="a list of positive integers")] = None
    nested_blocksize: Count = None
    nested_offset: Annotated[float, Field(ge=-1e15, le=1e15, description="a number of at most 1e15")] = None


class Generation(Settings):
    """generation_config.json; ranges are those of requests (docs/reference/requests.md)."""
    do_sample: Flag = None
    eos_token_id: Ids = None
    temperature: Annotated[float, Field(ge=0, description="a number of 0 or more")] = None
    top_k: Annotated[int, Field(ge=0, le=MOST, description="an integer of 0 or more")] = None
    top_p: Annotated[float, Field(gt=0, le=1, description="a number above 0, at most 1")] = None
    min_p: Annotated[float, Field(ge=0, le=1, description="a number from 0 to 1")] = None


class GgufModel(Settings):
    """Keys of a GGUF file, behind the name of the architecture."""
    vocab_size: Count = None
    context_length: Count = None
    embedding_length: Count = None
    block_count: LayerCount = None
    feed_forward_length: Count = None
    expert_feed_forward_length: Count = None
    expert_count: Count = None
    expert_used_count: Count = None
    head_count: Count = Field(None, alias="attention.head_count")
    head_count_kv: Count = Field(None, alias="attention.head_count_kv")
    key_length: Count = Field(None, alias="attention.key_length")
    value_length: Count = Field(None, alias="attention.value_length")
    sliding_window: CountOrNone = Field(None, alias="attention.sliding_window")
    sliding_window_pattern: Count = Field(None, alias="attention.sliding_window_pattern")
    layer_norm_rms_epsilon: Real = Field(None, alias="attention.layer_norm_rms_epsilon")
    attention_scale: Real = Field(None, alias="attention.scale")
    embedding_scale: Real = None
    residual_scale: Real = None
    logit_scale: Real = None
    final_logit_softcapping: CountOrNone | Real = None  # 0: none
    dimension_count: Count = Field(None, alias="rope.dimension_count")
    freq_base: Base = Field(None, alias="rope.freq_base")
    freq_base_swa: Base = Field(None, alias="rope.freq_base_swa")
    scaling_type: Text = Field(None, alias="rope.scaling.type")
    scaling_factor: Real = Field(None, alias="rope.scaling.factor")
    attn_factor: Real = Field(None, alias="rope.scaling.attn_factor")
    original_context_length: Count = Field(None, alias="rope.scaling.original_context_length")


class GgufTokenizer(Settings):
    """Keys of a GGUF file behind tokenizer.ggml."""
    model: Text = None
    pre: Text = None
    tokens: Texts = None
    merges: Texts = None
    token_type: Annotated[list[int], Field(description="a list of integers")] = None
    scores: Annotated[list[float], Field(description="a list of finite numbers")] = None
    bos_token_id: TokenId = None
    eos_token_id: TokenId = None
    eot_token_id: TokenId = None
    eom_token_id: TokenId = None
    unknown_token_id: TokenId = None
    add_bos_token: Flag = None
    add_space_prefix: Flag = None


class GgufFile(Settings):
    """Keys of a GGUF file that all architectures have."""
    architecture: Text = Field(None, alias="general.architecture")
    chat_template: Text = Field(None, alias="tokenizer.chat_template")
    split_no: CountOrNone = Field(None, alias="split.no")
    split_count: CountOrNone = Field(None, alias="split.count")


def checked(schema, raw, where, prefix=""):
    """The entries of the dictionary `raw` that `schema` names, by the names in the file. `where`: the file,
    `prefix`: what stands before each name there, for messages."""
    try:
        return schema.model_validate(_present(raw)).model_dump(by_alias=True, exclude_unset=True)
    except ValidationError as error:
        raise ImportFailure(_sentence(schema, error.errors(include_url=False)[0], where, prefix)) from None


def _present(value):
    if not isinstance(value, dict):
        return value
    return {key: _present(each) for key, each in value.items() if each is not None}


def shown(value):
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _sentence(schema, error, where, prefix):
    """What the first of pydantic's errors says, in our words."""
    place, description = [], None
    for part in error["loc"]:
        fields = getattr(schema, "model_fields", {})
        field = next((field for name, field in fields.items() if part in (name, field.alias)), None)
        if isinstance(part, str) and field is None and fields:
            break
        if field is not None:
            description, schema = field.description, field.annotation
        elif isinstance(part, str):
            continue  # a member of a union, or a key of a dictionary
        place.append(f"[{part}]" if isinstance(part, int) else f".{part}")
    name = "".join(place).removeprefix(".")
    allowed = description or error["msg"].removeprefix("Input should be ")
    # Of a list, or of one of several types, the item that is wrong may be all that is shown.
    return f"{where}: {prefix}{name} is {shown(error['input'])}; {allowed} is needed"
