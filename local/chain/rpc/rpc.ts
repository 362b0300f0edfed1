import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain, ChainNode } from '../chain.ts';
import type { Fault, FaultKind } from '../faults.ts';
import { RPC_CODE, RpcError } from '../ledger/errors.ts';
import { MAINNET_GENESIS_HASH } from '../ledger/network.ts';
import { type Params, readConfig } from '../params.ts';
import { accountMethods } from './methods-accounts.ts';
import { blockMethods, cleanedUp } from './methods-blocks.ts';
import { clusterMethods, type Method, withContext } from './methods-cluster.ts';
import { localMethods } from './methods-local.ts';
import { readWire, transactionMethods } from './methods-transactions.ts';

/** Result of a call: an answer, none (notification), an HTTP status without JSON-RPC, or a broken connection. */
export type Outcome = { answer: unknown } | { status: number } | 'silent' | 'broken';

interface Call {
  chain: Chain;
  node: ChainNode;
  method: string;
  params: Params;
  signal: AbortSignal;
}

const METHODS = new Map<string, Method>(
  Object.entries({ ...clusterMethods, ...blockMethods, ...accountMethods, ...transactionMethods, ...localMethods }),
);

/** Answers one JSON-RPC request like a node. `signal` ends waits when the server closes. */
export async function answerRequest(chain: Chain, node: ChainNode, request: unknown, signal: AbortSignal): Promise<Outcome> {
  const envelope = readEnvelope(request);
  if (envelope === null) return { answer: describeError(null, new RpcError(RPC_CODE.invalidRequest, 'Invalid request')) };
  const { id, method, params } = envelope;
  try {
    if (!Array.isArray(params)) throw new RpcError(RPC_CODE.invalidParams, 'Invalid params: expected a list');
    const result = await run({ chain, node, method, params, signal });
    if (result === 'broken' || isStatus(result)) return result;
    return id === undefined ? 'silent' : { answer: { jsonrpc: '2.0', result: result.value, id } };
  } catch (error) {
    return id === undefined ? 'silent' : { answer: describeError(id, error) };
  }
}

export function describeError(id: unknown, error: unknown): unknown {
  const known = error instanceof RpcError ? error : new RpcError(RPC_CODE.internal, `Internal error: ${String(error)}`);
  const { code, message, payload } = known;
  return { jsonrpc: '2.0', error: payload === undefined ? { code, message } : { code, message, data: payload }, id };
}

type Result = { value: unknown } | { status: number } | 'broken';
type Behaviour = (call: Call, fault: Fault) => Result | Promise<Result>;

// Behaviour per fault kind. `vanish` acts on request, so no call meets it here.
const BEHAVIOURS: Readonly<Record<FaultKind, Behaviour>> = {
  drop: (call) => (call.method === 'sendTransaction' ? { value: signatureOf(call) } : 'broken'),
  delay: async (call, fault) => {
    await sleep(fault.ms, undefined, { signal: call.signal, ref: false });
    return invoke(call);
  },
  null_first: (call) => ({ value: call.method === 'getSignatureStatuses' ? nullStatuses(call) : null }),
  fail_after_broadcast: async (call, fault): Promise<Result> => {
    await invoke(call);
    return fault.status === null ? 'broken' : { status: fault.status };
  },
  vanish: (call) => invoke(call),
  on_fork: async (call, fault) => ({ value: leaveOut(call, fault.signature!, (await invoke(call)).value) }),
  no_history: async (call, fault) => ({ value: forgetBefore(call, fault.slot, (await invoke(call)).value) }),
  unlisted: async (call, fault) => {
    const { value } = await invoke(call);
    return { value: (value as { signature: string }[]).filter(({ signature }) => signature !== fault.signature) };
  },
  http_503: () => ({ status: 503 }),
  http_429: () => ({ status: 429 }),
  http_500: () => ({ status: 500 }),
  rpc_error: (_call, fault) => {
    throw new RpcError(fault.code, fault.message);
  },
  wrong_genesis: () => ({ value: MAINNET_GENESIS_HASH }),
  hang: async (call, fault): Promise<Result> => {
    await sleep(fault.ms, undefined, { signal: call.signal, ref: false }).catch(() => undefined);
    return 'broken';
  },
};

async function run(call: Call): Promise<Result> {
  call.node.calls.add(call.method);
  const fault = call.method.startsWith('local_') ? null : call.node.faults.take(call.method, call.params);
  return fault === null ? invoke(call) : BEHAVIOURS[fault.kind](call, fault);
}

async function invoke({ chain, node, method, params }: Call): Promise<{ value: unknown }> {
  const perform = METHODS.get(method);
  if (perform === undefined) throw new RpcError(RPC_CODE.methodNotFound, 'Method not found');
  return { value: await perform(chain, params, node) };
}

type Located = { slot: number } | null;

/** Answers like a node without history before a slot, or without any: unknown, without stating the gap. */
function forgetBefore({ method, params }: Call, firstSlot: number | null, answer: unknown): unknown {
  const first = firstSlot ?? Number.POSITIVE_INFINITY;
  const isKnown = (located: Located) => located !== null && located.slot >= first;
  switch (method) {
    case 'getTransaction':
      return isKnown(answer as Located) ? answer : null;
    case 'getSignatureStatuses': {
      const { value, ...rest } = answer as { value: Located[] };
      return { ...rest, value: value.map((status) => (isKnown(status) ? status : null)) };
    }
    case 'getSignaturesForAddress':
      return (answer as Located[]).filter(isKnown);
    case 'getBlock':
      if (firstSlot === null) throw new RpcError(RPC_CODE.historyNotAvailable, 'Transaction history is not available from this node');
      if ((params[0] as number) < firstSlot) throw cleanedUp(params[0] as number, firstSlot);
      return answer;
    default:
      return (answer as number[]).filter((slot) => slot >= first);
  }
}

/** Answers like a node on a fork without one transaction. */
function leaveOut({ method, params }: Call, signature: string, answer: unknown): unknown {
  switch (method) {
    case 'getTransaction':
      return params[0] === signature ? null : answer;
    case 'getSignatureStatuses': {
      const { value, ...rest } = answer as { value: unknown[] };
      return { ...rest, value: value.map((status, i) => ((params[0] as string[])[i] === signature ? null : status)) };
    }
    case 'getSignaturesForAddress':
      return (answer as { signature: string }[]).filter((listed) => listed.signature !== signature);
    default: {
      const { signatures, ...block } = answer as { signatures?: string[] };
      return signatures ? { ...block, signatures: signatures.filter((one) => one !== signature) } : block;
    }
  }
}

function signatureOf({ chain, params }: Call): string {
  return chain.decode(readWire(params[0], readConfig(params[1]))).signatures[0]!;
}

function nullStatuses({ chain, params }: Call): unknown {
  const signatures = Array.isArray(params[0]) ? params[0] : [];
  return withContext(
    chain,
    {},
    signatures.map(() => null),
  );
}

function isStatus(result: Result): result is { status: number } {
  return result !== 'broken' && 'status' in result;
}

export function readEnvelope(request: unknown): { id: unknown; method: string; params: unknown } | null {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return null;
  const { jsonrpc, id, method, params = [] } = request as Record<string, unknown>;
  const isIdValid = id === undefined || id === null || ['string', 'number', 'bigint'].includes(typeof id);
  return jsonrpc === '2.0' && typeof method === 'string' && isIdValid ? { id, method, params: params ?? [] } : null;
}
