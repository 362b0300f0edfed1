import type { SvcError } from '../errors/svc-error.ts';
import type { Operations, Resources } from '../generated/resources.ts';
import type { ConfirmRequest } from '../generated/types.ts';
import { verifyWebhook } from '../verify/webhook.ts';
import type { Call, CallOptions, ClientOptions } from './call.ts';
import { readBeforeRepeat } from './confirm.ts';
import { listOperations, type Operation } from './operations.ts';
import { LazyPages } from './pages.ts';
import { runScenario, type Testing } from './testing.ts';
import { Transport } from './transport.ts';

/** Parameters, query and body of an operation. Left out, if all of them may be. */
type RequestArguments<O> =
  Record<never, never> extends Omit<O, 'answer'>
    ? [request?: Omit<O, 'answer'>, options?: CallOptions]
    : [request: Omit<O, 'answer'>, options?: CallOptions];

/**
 * Typed client of the service. Every method answers what the service sent, plus `replayed` and `response`. Every failure is an
 * `SvcError`, except that an aborted call rejects with the reason of its signal.
 */
export interface Client extends Resources {
  testing: Testing;
  webhooks: {
    /** Verifies a webhook delivery and returns its event. */
    verify: typeof verifyWebhook;
  };
  /** Calls an operation by the id that the OpenAPI document gives it. */
  request<I extends keyof Operations>(operationId: I, ...request: RequestArguments<Operations[I]>): Operations[I]['answer'];
}

/**
 * Creates a client. Every write is sent with an Idempotency-Key, the same in each attempt. Failures that may pass are repeated,
 * except for calls that must happen at most once.
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  const operations = listOperations();
  const client: Record<string, Record<string, unknown>> = {};
  const built = client as unknown as Client;
  const send = (call: Call) => sendCall(transport, completeCall(built, call));
  for (const operation of operations) {
    client[operation.resource] ??= {};
    client[operation.resource]![operation.method] = (...given: unknown[]) => send(toCall(operation, given));
  }
  built.testing.run = (...given) => runScenario(built.testing, ...given);
  built.webhooks = { verify: verifyWebhook };
  built.request = (operationId, ...[request, callOptions]) => {
    const operation = operations.find(({ id }) => id === operationId);
    if (!operation) throw new TypeError(`No operation is called ${operationId}`);
    return send({ operation, ...request, options: callOptions }) as never;
  };
  return built;
}

function completeCall(client: Client, call: Call): Call {
  if (call.operation.id === 'confirmPayment') return withReading(client, call);
  // A bare logout would leave the token valid.
  if (call.operation.id === 'logout' && call.body === undefined) return { ...call, body: { end: 'session' } };
  return call;
}

function sendCall(transport: Transport, call: Call): unknown {
  const { operation, query } = call;
  if (!operation.isList) return transport.call(call);
  return new LazyPages({ ...query }, operation.isByCursor, (of) => transport.call({ ...call, query: of }) as never);
}

/** Reads the arguments of a method: path parameters, a buyer's credential, body or query, options. */
function toCall(operation: Operation, given: unknown[]): Call {
  const rest = [...given];
  const params = Object.fromEntries(operation.params.map((name) => [name, rest.shift()]));
  const authorization = operation.takesAuthorization ? (rest.shift() as string) : undefined;
  const content = operation.takesBody || operation.takesQuery ? rest.shift() : undefined;
  const options = rest.shift() as CallOptions | undefined;
  return { operation, params, authorization, [operation.takesBody ? 'body' : 'query']: content, options };
}

/** Lets a confirmation read its payment before it is sent again. */
function withReading({ payments }: Client, call: Call): Call {
  const beforeRepeat = (failure: SvcError) => {
    const { payment_id, tx_signature } = call.body as ConfirmRequest;
    return readBeforeRepeat(tx_signature, failure, () => payments.get(payment_id, call.options));
  };
  return { ...call, beforeRepeat };
}
