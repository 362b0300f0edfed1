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

export interface Fault {
  kind: FaultKind;
  /** Affected method. Null: every method that the kind applies to. */
  method: string | null;
  /** Remaining affected calls. Null: until cleared. */
  timesLeft: number | null;
  /** Duration of `delay` and `hang` in milliseconds. */
  ms: number;
  code: number;
  message: string;
  /** HTTP status of `fail_after_broadcast`. Null destroys the connection. */
  status: number | null;
  /**
   * Transaction hidden by `vanish` (all nodes), `on_fork` (this node) and `unlisted`. Other kinds affect only calls about this transaction.
   * Null: all calls.
   */
  signature: string | null;
  /** First slot in a `no_history` node's history. Null: no history at all. */
  slot: number | null;
}

const METHODS_OF_KIND: Partial<Record<FaultKind, readonly string[]>> = {
  null_first: ['getTransaction', 'getSignatureStatuses'],
  fail_after_broadcast: ['sendTransaction'],
  unlisted: ['getSignaturesForAddress'],
  wrong_genesis: ['getGenesisHash'],
  on_fork: ['getTransaction', 'getSignatureStatuses', 'getSignaturesForAddress', 'getBlock'],
  no_history: ['getTransaction', 'getSignatureStatuses', 'getSignaturesForAddress', 'getBlock', 'getBlocks', 'getBlocksWithLimit'],
};

/** Pending faults of one node. Each call consumes at most one, the earliest that applies. */
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

/** Lists and blocks are requested by address and slot, so a fault that hides a transaction affects all of these calls. */
const names = (method: string): boolean => method !== 'getSignaturesForAddress' && method !== 'getBlock';
const isAbout = (signature: string, subject: unknown): boolean =>
  signature === subject || (Array.isArray(subject) && subject.includes(signature));

function strikes(fault: Fault, method: string, [subject]: readonly unknown[]): boolean {
  if (fault.method !== null && fault.method !== method) return false;
  if (fault.signature !== null && names(method) && !isAbout(fault.signature, subject)) return false;
  return METHODS_OF_KIND[fault.kind]?.includes(method) ?? true;
}
