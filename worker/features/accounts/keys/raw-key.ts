/**
 * API keys: a prefix, 21 random digits, 11 that name the admission object, and 6 of a MAC (35 bits), so that forged keys are rejected
 * without a call. Keys of the first format end in a checksum that any caller can compute. They cost a refusal of their caller.
 * @module
 */

import { crc32, equalBytes, pepperedHash, pepperedHashes, sha256Hex } from '#core/crypto.ts';
import { base62, randomBase62, utf8 } from '#core/encoding.ts';
import { type AccountId, admissionIdOf } from '#core/ids.ts';
import type { Config, Ctx } from '#platform/context.ts';

const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{21}([0-9A-Za-z]{11})([0-9A-Za-z]{6})$/;
const MAC_SPACE = 62n ** 6n;
const macsOf = (peppers: string, text: string): string[] =>
  pepperedHashes(peppers, 'api-key-check', text).map((hash) => base62(BigInt(`0x${hash.slice(0, 32)}`) % MAC_SPACE, 6));
const checksum = (text: string): string => base62(BigInt(crc32(utf8(text))), 6);

export function newRawKey(ctx: Ctx, accountId: AccountId, livemode: boolean): string {
  const body = `svc_${livemode ? 'live' : 'test'}_${randomBase62(21)}${admissionIdOf(accountId)}`;
  return body + macsOf(ctx.config.PEPPER, body)[0];
}

export interface ParsedKey {
  admissionId: string;
  /** Hashes under which the key may be stored: the pepper proved by the MAC digits, else each pepper. */
  keyHashes: string[];
  isVouched: boolean;
}

/** Cache of parsed vouched keys by key hash, because the MACs cost as much as the rest of a consume. Raw keys are not cached. */
const known = new WeakMap<Config, Map<string, ParsedKey>>();
const KNOWN_MAX = 1000;

export function parseRawKey({ config }: Pick<Ctx, 'config'>, rawKey: string): ParsedKey | null {
  const match = SHAPE.exec(rawKey);
  if (!match) return null;
  const vouched = known.get(config) ?? new Map<string, ParsedKey>();
  const name = sha256Hex(utf8(rawKey));
  const parsed = vouched.get(name) ?? parseUnknown(config, rawKey, match[2]!, match[3]!);
  if (!parsed?.isVouched) return parsed;
  if (vouched.size >= KNOWN_MAX) vouched.clear();
  known.set(config, vouched.set(name, parsed));
  return parsed;
}

function parseUnknown({ PEPPER }: Config, rawKey: string, admissionId: string, check: string): ParsedKey | null {
  const body = rawKey.slice(0, -6);
  const vouches = macsOf(PEPPER, body).map((mac) => equalBytes(utf8(mac), utf8(check)));
  const isVouched = vouches.includes(true);
  if (!isVouched && checksum(body) !== check) return null;
  const hashes = pepperedHashes(PEPPER, KEY_PURPOSE, rawKey);
  return { admissionId, keyHashes: isVouched ? hashes.filter((_, index) => vouches[index]) : hashes, isVouched };
}

const KEY_PURPOSE = 'api-key';

export const hashRawKey = ({ config }: Pick<Ctx, 'config'>, rawKey: string): string => pepperedHash(config.PEPPER, KEY_PURPOSE, rawKey);
