import { invalidParams } from './ledger/errors.ts';
import { type Config, readChoice, readConfig, readCount, readSignature } from './params.ts';

const KINDS = [
  'drop',
  'delay',
  'null_first',
  'fail_after_broadcast',
  'vanish',
  'no_history',
  'on_fork',
  'unlisted',
  'http_503',
  'http_429',
  'http_500',
  'rpc_error',
  'wrong_genesis',
  'hang',
] as const;

export type FaultKind = (typeof KINDS)[number];

/** A misbehaviour asked for by a test. */
export interface Fault {
  kind: FaultKind;
  /** The method it strikes; null strikes every method the kind applies to. */
  method: string | null;
  /** Calls it still strikes; null until cleared. */
  timesLeft: number | null;
  /** `delay`, `hang`: how long, in milliseconds. */
  ms: number;
  /** The code that `rpc_error` answers with. */
  code: number;
  message: string;
  /** `fail_after_broadcast`: the HTTP status to answer; null destroys the connection. */
  status: number | null;
  /** What `vanish` (of every node), `on_fork` (of this one, whose blocks are without it) and `unlisted` hide. Any other kind strikes only calls about this transaction; null strikes all. */
  signature: string | null;
  /** `no_history`: the node began at this slot and knows of none before; null: it keeps no history at all. */
  slot: number | null;
}

// Kinds that mean something for these methods only; the others strike any.
const METHODS_OF_KIND: Partial<Record<FaultKind, readonly string[]>> = {
  null_first: ['getTransaction', 'getSignatureStatuses'],
  fail_after_broadcast: ['sendTransaction'],
  unlisted: ['getSignaturesForAddress'],
  wrong_genesis: ['getGenesisHash'],
  on_fork: ['getTransaction', 'getSignatureStatuses', 'getSignaturesForAddress', 'getBlock'],
  no_history: ['getTransaction', 'getSignatureStatuses', 'getSignaturesForAddress', 'getBlock', 'getBlocks', 'getBlocksWithLimit'],
};

/** The faults waiting on one node. The earliest that applies strikes; one per call. */
export class Faults {
  #waiting: Fault[] = [];

  get count(): number {
    return this.#waiting.length;
  }

  add(fault: Fault): void {
    this.#waiting.push(fault);
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The fault that strikes this call, used up by one. */
  take(method: string, params: readonly unknown[]): Fault | null {
    const fault = this.#waiting.find((waiting) => strikes(waiting, method, params));
    if (fault === undefined) return null;
    if (fault.timesLeft !== null) {
      fault.timesLeft -= 1;
      if (fault.timesLeft === 0) this.#waiting = this.#waiting.filter((waiting) => waiting !== fault);
    }
    return fault;
  }
}

/** Reads the parameter of `local_fault`. */
export function readFault(value: unknown): Fault {
  const config: Config = readConfig(value);
  if (config.kind === undefined) throw invalidParams(`Invalid params: \`kind\` is one of ${KINDS.join(', ')}`);
  const kind = readChoice(config.kind, KINDS, 'drop');
  const times = config.times === undefined ? 1 : readCount(config.times);
  const hides = kind === 'vanish' || kind === 'on_fork' || kind === 'unlisted';
  if (hides && config.signature === undefined) throw invalidParams(`Invalid params: \`${kind}\` needs a \`signature\``);
  if (config.method !== undefined && typeof config.method !== 'string') throw invalidParams('Invalid params: `method` is a string');
  return {
    kind,
    method: config.method ?? null,
    timesLeft: times === 0 ? null : times,
    ms: config.ms === undefined ? 1_000 : readCount(config.ms, 600_000),
    code: typeof config.code === 'number' ? config.code : -32005,
    message: typeof config.message === 'string' ? config.message : 'Node is behind',
    status: config.status === undefined ? null : readCount(config.status, 599),
    signature: config.signature === undefined ? null : readSignature(config.signature),
    slot: config.slot === undefined ? null : readCount(config.slot),
  };
}

/** Lists and blocks are asked for by address and slot: what hides a transaction from them strikes each. */
const names = (method: string): boolean => method !== 'getSignaturesForAddress' && method !== 'getBlock';
const isAbout = (signature: string, subject: unknown): boolean =>
  signature === subject || (Array.isArray(subject) && subject.includes(signature));

function strikes(fault: Fault, method: string, [subject]: readonly unknown[]): boolean {
  if (fault.method !== null && fault.method !== method) return false;
  if (fault.signature !== null && names(method) && !isAbout(fault.signature, subject)) return false;
  return METHODS_OF_KIND[fault.kind]?.includes(method) ?? true;
}
