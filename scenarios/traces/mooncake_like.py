#!/usr/bin/env python3
"""Writes mooncake_like.jsonl: a synthetic trace of chats in the format of Mooncake's (keys timestamp in ms, input_length, output_length,
hash_ids of 512 tokens each). No line is from a real trace. Chats start as a Poisson process; all share a system prompt of 1,024 or 3,072
tokens, and a turn repeats the turns before it. Lengths are lognormal. Same seed, same file.
usage: mooncake_like.py > mooncake_like.jsonl"""
import heapq
import json
import math
import random

BLOCK, REQUESTS, CHATS_PER_S, SEED = 512, 1000, 1.0, 1


def lognormal(draw, median, sigma, most):
    return max(1, min(most, round(median * math.exp(draw.gauss(0, sigma)))))


def main():
    draw = random.Random(SEED)
    ids = iter(range(100, 1 << 30))
    prompts = [list(range(2)), list(range(2, 8))]  # blocks of the two system prompts
    waiting, lines, clock, order = [], [], 0.0, 0
    while len(lines) < REQUESTS:
        if not waiting or clock <= waiting[0][0]:
            system = draw.choice(prompts)
            chat = {"ids": list(system), "tokens": len(system) * BLOCK, "turns": 1 + int(draw.expovariate(0.8))}
            heapq.heappush(waiting, (clock, order, chat))
            order += 1
            clock += draw.expovariate(CHATS_PER_S)
            continue
        now, _, chat = heapq.heappop(waiting)
        tokens = chat["tokens"] + lognormal(draw, 900, 1.2, 30000)
        while len(chat["ids"]) < -(-tokens // BLOCK):
            chat["ids"].append(next(ids))
        answer = lognormal(draw, 250, 0.7, 2000)
        lines.append({"timestamp": round(now * 1000), "input_length": tokens, "output_length": answer, "hash_ids": list(chat["ids"])})
        # The block that the prompt ends in is filled by the answer: it has another content then.
        if tokens % BLOCK:
            chat["ids"].pop()
        chat["tokens"], chat["turns"] = tokens + answer, chat["turns"] - 1
        if chat["turns"] > 0:
            heapq.heappush(waiting, (now + answer * 0.03 + draw.expovariate(1 / 20), order, chat))
            order += 1
    for line in lines:
        print(json.dumps(line))


main()
