/* Networks described by their layers as operations: what convolutional networks, encoders and plain MLPs are made of.
 *
 * A network is a list of layers, each a list of operations on one sample, which may stand `count` times in a row. An
 * operation takes the result of the one before it, of a named one, or of the layer's input. A schema table of sim/training
 * fills these structs, and mdl_net_settle() finds the shapes; the other functions take a settled network as consistent. */
#ifndef MODELS_NET_H
#define MODELS_NET_H

#include "models/kernel.h"
#include "models/layer.h"
#include "models/memory.h"

typedef enum { MDL_NET_MATMUL, MDL_NET_CONV, MDL_NET_ATTENTION, MDL_NET_EMBEDDING, MDL_NET_ELEMENTWISE } MdlNetOpKind;
typedef enum {
  MDL_ELEMENT_BATCH_NORM,
  MDL_ELEMENT_LAYER_NORM,
  MDL_ELEMENT_RELU,
  MDL_ELEMENT_GELU,
  MDL_ELEMENT_TANH,
  MDL_ELEMENT_DROPOUT,
  MDL_ELEMENT_ADD, /* of `with` */
  MDL_ELEMENT_MAX_POOL,
  MDL_ELEMENT_AVERAGE_POOL,
  MDL_ELEMENT_GLOBAL_POOL, /* the mean over all positions */
  MDL_ELEMENT_FLATTEN,     /* all positions as features of one */
  MDL_ELEMENT_CLASS_TOKEN, /* one more position, learned */
  MDL_ELEMENT_TAKE,        /* the first `rows` positions */
  MDL_ELEMENT_LOSS         /* cross-entropy of the features */
} MdlNetElement;
extern const BaseName mdl_net_op_names[], mdl_net_element_names[];

/* Of one sample: features at each of height x width positions. */
typedef struct {
  double features, height, width;
} MdlShape;

typedef struct {
  BaseHead head;
  BaseEnum op;     /* MdlNetOpKind */
  BaseStr name;    /* others of the layer call it this */
  BaseStr from;    /* what it takes: a name, or "input"; absent: the operation before */
  BaseStr with;    /* of add: the other operand, likewise */
  BaseNum in, out; /* features; in: absent or as they come */
  BaseNum kernel, stride, padding, groups;
  BaseNum heads;
  BaseNum rows;  /* of an embedding's table; positions that take keeps */
  BaseEnum kind; /* MdlNetElement */
  BaseBool bias;
  BaseBool tied;     /* its matrix is another's */
  BaseBool add;      /* of an embedding: a row a position, added to what comes */
  BaseBool causal;   /* of attention */
  int source, other; /* index in the layer; -1: its input */
  MdlShape input, output;
} MdlNetOp;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum count; /* so many in a row */
  BaseList ops;  /* MdlNetOp */
  MdlShape input;
} MdlNetLayer;

typedef struct {
  BaseHead head;
  BaseNum features, height, width; /* of a sample; features 0: numbers of tokens */
} MdlNetInput;

typedef struct MdlNet {
  BaseHead head;
  BaseStr name, description, source;
  BaseNum parameters; /* published count; absent: not known exactly */
  MdlNetInput input;
  BaseList layers; /* MdlNetLayer */
} MdlNet;

/* Finds shapes and operands. Errors, with their place, go to the diag; FALSE if there was one. */
gboolean mdl_net_settle (MdlNet *net, BaseDiag *diag);

/* Layers, each as often as it stands. */
double mdl_net_n_layers (const MdlNet *net);
/* Index in net->layers of the layer-th of them, from 0. */
unsigned mdl_net_item (const MdlNet *net, unsigned layer);

/* Appends the tensors of an item of net->layers: MdlTensor, in the order in which a module registers them. */
void mdl_net_tensors (const MdlNet *net, unsigned item, GArray *out);
/* Of all layers: parameters, and of them elements of matrices and kernels. */
double mdl_net_parameters (const MdlNet *net, double *matrix);
/* FLOP of a sample, forward and backward, each multiply and add 2: of matrices and convolutions; of attention. */
void mdl_net_flop (const MdlNet *net, double *matrix_flop, double *attention_flop);

/* As mdl_layer_works and mdl_memory_block, of the layer-th layer. query->micro_batch: samples. `again`: what a repeated forward
 * pass makes once more. */
void mdl_net_works (const MdlNet *net, const MdlLayerQuery *query, unsigned layer, GArray *forward, GArray *backward);
void mdl_net_memory (const MdlNet *net, const MdlLayerQuery *query, unsigned item, MdlActivationBytes *out);

#endif
