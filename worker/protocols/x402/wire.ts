import { z } from '@hono/zod-openapi';
import { base64, parseJson, utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';

/**
 * Wire format of x402 V2: shapes, header codecs and the echo rule. The only module that knows them. Pure.
 * (worker/protocols/README.md#x402-v2-headers)
 */
export const X402_VERSION = 2 as const;

const printable = z.string().regex(/^[\x20-\x7e]{1,32}$/);
const bag = z.record(z.string(), z.unknown());
/** JSON writers of other languages send null for absent fields. */
const text = z.string().nullish();

export const ResourceInfo = z.object({
  url: z.string().min(1),
  description: text,
  mimeType: text,
  serviceName: printable.nullish(),
  tags: z.array(printable).max(5).nullish(),
  iconUrl: z.string().max(2048).nullish(),
});
export type ResourceInfo = z.infer<typeof ResourceInfo>;

/** Loose, so that unknown fields take part in the comparison of the echo. */
export const PaymentRequirements = z.looseObject({
  scheme: z.string().min(1),
  network: z.string().min(3).includes(':'),
  asset: z.string().min(1),
  amount: z.string().min(1),
  payTo: z.string().min(1),
  maxTimeoutSeconds: z.number().positive(),
  extra: bag.nullish(),
});
export type PaymentRequirements = z.infer<typeof PaymentRequirements>;

export const PaymentRequired = z.object({
  x402Version: z.literal(X402_VERSION),
  error: text,
  resource: ResourceInfo,
  accepts: z.array(PaymentRequirements).min(1),
  extensions: bag.nullish(),
});
export type PaymentRequired = z.infer<typeof PaymentRequired>;

export const PaymentPayload = z.object({
  x402Version: z.literal(X402_VERSION),
  resource: ResourceInfo.nullish(),
  /** Requirement chosen by the client, echoed as advertised. */
  accepted: PaymentRequirements,
  payload: bag,
  extensions: bag.nullish(),
});
export type PaymentPayload = z.infer<typeof PaymentPayload>;

export const VerifyResponse = z.object({
  isValid: z.boolean().describe('True if the payment would be accepted.'),
  invalidReason: z.string().optional().describe('Reason the payment would be refused: an x402 code.'),
  invalidMessage: z.string().optional().describe('Human-readable form of `invalidReason`.'),
  payer: z.string().optional(),
  extensions: bag.optional(),
  extra: bag.optional().describe('Further data of the scheme.'),
});
export type VerifyResponse = z.infer<typeof VerifyResponse>;

export const SettleResponse = z.object({
  success: z.boolean(),
  errorReason: z.string().optional().describe('Reason the settlement failed: an x402 code.'),
  errorMessage: z.string().optional().describe('Human-readable form of `errorReason`.'),
  /** Authority of the transfer, not the network fee payer. (worker/protocols/README.md#traps) */
  payer: z.string().optional(),
  /** Signature on chain. Empty if nothing was sent. */
  transaction: z.string().describe('Signature of the transaction; empty if no transaction exists.'),
  network: z.string().describe('Network in CAIP-2.'),
  amount: z.string().optional().describe('Settled amount in base units, as text.'),
  extensions: bag.optional(),
  extra: bag.optional().describe('Further data of the scheme.'),
});
export type SettleResponse = z.infer<typeof SettleResponse>;

export const encodeHeader = (value: PaymentRequired | SettleResponse | PaymentPayload): string =>
  base64.encode(utf8(JSON.stringify(value)));

/** A transaction has at most 1232 bytes. A longer header carries something else. */
const HEADER_MAX = 16 * 1024;
const DEPTH_MAX = 32;

/** Parses a PAYMENT-SIGNATURE header. Never throws, whatever a client sends. */
export const parsePaymentSignature = (header: string): Result<PaymentPayload, 'invalid_payload' | 'invalid_x402_version'> =>
  parsePaymentPayload(decodeHeader(header));

/** Parses a payload that resource servers send to a facilitator as JSON. Never throws. */
export function parsePaymentPayload(value: unknown): Result<PaymentPayload, 'invalid_payload' | 'invalid_x402_version'> {
  if (!isBag(value) || !isPlain(value)) return err('invalid_payload');
  if (Object.hasOwn(value, 'x402Version') && value.x402Version !== X402_VERSION) return err('invalid_x402_version');
  const parsed = PaymentPayload.safeParse(value);
  return parsed.success ? ok(parsed.data) : err('invalid_payload');
}

export function parsePaymentRequired(value: unknown): PaymentRequired | null {
  const decoded = typeof value === 'string' ? decodeHeader(value) : value;
  const parsed = isBag(decoded) && isPlain(decoded) ? PaymentRequired.safeParse(decoded) : null;
  return parsed?.success ? parsed.data : null;
}

export function parseRequirements(value: unknown): Result<PaymentRequirements, 'invalid_payment_requirements'> {
  const parsed = isBag(value) && isPlain(value) ? PaymentRequirements.safeParse(value) : null;
  return parsed?.success ? ok(parsed.data) : err('invalid_payment_requirements');
}

export function decodeHeader(header: string): unknown {
  // base64url and unpadded text are refused, like the reference client does.
  if (header.length > HEADER_MAX || header.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return undefined;
  try {
    return parseJson(base64.decode(header));
  } catch {
    return undefined;
  }
}

const isBag = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if the value is shallow enough for recursion and has no key that could become a prototype. */
function isPlain(root: unknown): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) return false;
    const nodes = level.filter((node) => typeof node === 'object' && node !== null);
    if (nodes.some((node) => Object.hasOwn(node, '__proto__'))) return false;
    level = nodes.flatMap((node) => Object.values(node));
  }
  return true;
}

/**
 * Fields of `extra` added by a service that supplies the blockhash, so not part of the offer. (worker/protocols/README.md#x402-v2-the-echo)
 */
const DYNAMIC_EXTRA: readonly string[] = ['recentBlockhash', 'lastValidBlockHeight'];

/**
 * Echo rule: everything except `extra` is equal in any key order. Offered `extra` fields are unchanged, and a client may add fields.
 * (worker/protocols/README.md#x402-v2-the-echo)
 */
export function sameRequirements(advertised: PaymentRequirements, accepted: PaymentRequirements): boolean {
  const { extra: advertisedExtra, ...advertisedRest } = advertised;
  const { extra: echoed, ...echo } = accepted;
  if (!isEqual(advertisedRest, echo)) return false;
  const fixed = Object.entries(advertisedExtra ?? {}).filter(([key]) => !DYNAMIC_EXTRA.includes(key));
  return isWithin(Object.fromEntries(fixed), echoed ?? {});
}

function isEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (depth > DEPTH_MAX || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [present(a), present(b)];
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key), depth + 1));
}

/** True if `container` includes `part`: objects may have more members, everything else is equal. */
function isWithin(part: unknown, container: unknown, depth = 0): boolean {
  if (!isBag(part) || !isBag(container)) return isEqual(part, container, depth);
  if (depth > DEPTH_MAX) return false;
  const members = present(container);
  return [...present(part)].every(([key, value]) => members.has(key) && isWithin(value, members.get(key), depth + 1));
}

const present = (value: object): Map<string, unknown> => new Map(Object.entries(value).filter(([, member]) => member !== undefined));
