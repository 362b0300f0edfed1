import { type Client, type ClientOptions, createClient } from '../../sdk/src/index.ts';

/**
 * Fake of the access API with its rules: one effect per Idempotency-Key, one credit per payment, first use bound to one key, no reuse of a
 * refunded key. Injects faults. Runs in workerd and in Node.
 */
export interface Seen {
  method: string;
  path: string;
  key: string | null;
  body: Record<string, unknown>;
}

/**
 * `lost`: the effect happened and the answer was lost. `late`: the effect happened and the client times out. `unreachable`: nothing
 * happened.
 */
export type Fault = 'lost' | 'late' | 'unreachable' | { status: number; body: unknown; headers?: Record<string, string> };

type Refused = { status: number; code: string; meta?: object; headers?: Record<string, string> };
interface Use {
  customer: string;
  units: number;
  key: string;
  isRefunded: boolean;
}

export const CHALLENGE = btoa(JSON.stringify({ x402Version: 2, accepts: [{ scheme: 'exact' }] }));
/** The challenge contains the resource as requested. */
const challengeFor = (resource: object) => btoa(JSON.stringify({ x402Version: 2, accepts: [{ scheme: 'exact' }], resource }));
/** PAYMENT-SIGNATURE of a client that names its payment. */
export const identified = (payment: string, id: string): string =>
  btoa(JSON.stringify({ x402Version: 2, payload: { transaction: payment }, extensions: { 'payment-identifier': { info: { id } } } }));

/** Payment in either form of header. */
function paymentIn(header: string): string {
  try {
    return JSON.parse(atob(header)).payload.transaction;
  } catch {
    return header;
  }
}

const usdc = (amount: string) => ({ asset: 'USDC', amount, base_units: `${amount}000000` });
const RETRYABLE = ['idempotency_in_progress', 'rate_limited', 'temporarily_unavailable'];

export class FakeService {
  readonly seen: Seen[] = [];
  /** Faults, one taken per request. */
  readonly faults: (Fault | null)[] = [];
  readonly balances = new Map<string, number>();
  readonly #stored = new Map<string, { fingerprint: string; body: object; use: string | null }>();
  readonly #uses = new Map<string, Use>();
  readonly #payments = new Map<string, { payer: string; use: string | null }>();
  /** Number of `settlement_pending` answers before a settle decides. */
  pendingSettles = 0;
  retryAfter = 0;
  unitsPerPayment = 1;
  isPayable = true;

  client = (options: Partial<ClientOptions> = {}): Client =>
    createClient({ baseUrl: 'https://svc.test', key: 'svc_live_x', fetch: this.fetch, ...options });

  readonly fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    const key = request.headers.get('Idempotency-Key');
    this.seen.push({ method: request.method, path, key, body: text === '' ? {} : JSON.parse(text) });
    const fault = this.faults.shift() ?? null;
    if (fault === 'unreachable') throw new TypeError('connection refused');
    if (typeof fault === 'object' && fault !== null) {
      return typeof fault.body === 'string'
        ? new Response(fault.body, { status: fault.status, headers: fault.headers ?? {} })
        : Response.json(fault.body, { status: fault.status, headers: fault.headers ?? {} });
    }
    const answer = this.#answer(path, key ?? '', JSON.parse(text || '{}'), text);
    if (fault === 'lost') throw new TypeError('connection reset');
    if (fault === 'late') return new Promise(() => {});
    return answer;
  };

  get openUses(): number {
    return [...this.#uses.values()].filter(({ isRefunded }) => !isRefunded).length;
  }
  keysOf(path: string): (string | null)[] {
    return this.seen.filter((request) => request.path.endsWith(path)).map(({ key }) => key);
  }

  #answer(path: string, key: string, body: Record<string, never>, text: string): Response {
    const stored = this.#stored.get(path + key);
    if (stored && stored.fingerprint !== text) return this.#refuse({ status: 409, code: 'idempotency_conflict' });
    if (stored?.use && this.#uses.get(stored.use)!.isRefunded && !path.endsWith('/refund')) {
      return this.#refuse({ status: 409, code: 'state_conflict', meta: { reason: 'refunded' } });
    }
    if (stored) return Response.json(stored.body, { headers: { 'Idempotent-Replayed': 'true' } });
    const store = (answer: object, use: string | null) => this.#stored.set(path + key, { fingerprint: text, body: answer, use });
    if (path.endsWith('/consume')) return this.#consume(body, key, store);
    if (path.endsWith('/settle')) return this.#settle(body, key, store);
    const use = this.#uses.get(body.consumption_id ?? '');
    if (!use) return this.#refuse({ status: 404, code: 'not_found' });
    use.isRefunded = true;
    this.balances.set(use.customer, (this.balances.get(use.customer) ?? 0) + use.units);
    const refunded = { consumption_id: body.consumption_id, units: use.units };
    store(refunded, null);
    return Response.json(refunded);
  }

  #use(customer: string, units: number, key: string): string | null {
    const left = this.balances.get(customer) ?? 0;
    if (left < units) return null;
    this.balances.set(customer, left - units);
    const id = `con_${crypto.randomUUID()}`;
    this.#uses.set(id, { customer, units, key, isRefunded: false });
    return id;
  }

  #consume(body: Record<string, never>, key: string, store: (answer: object, use: string | null) => unknown): Response {
    const customer = JSON.stringify(body.customer);
    const units = (body.units as number | undefined) ?? 1;
    const use = this.#use(customer, units, key);
    if (use === null) {
      const [headers, meta] = this.isPayable
        ? [{ 'PAYMENT-REQUIRED': body.resource ? challengeFor(body.resource) : CHALLENGE }, { payment_required: {} }]
        : [{}, { payment_required: null, reason: 'setup_not_ready' }];
      return this.#refuse({ status: 403, code: 'entitlement_missing', meta, headers: headers as Record<string, string> });
    }
    const answer = {
      consumed: true,
      consumption_id: use,
      entitlement_id: 'e',
      units,
      remaining: this.balances.get(customer),
      paid_through: null,
    };
    store(answer, use);
    return Response.json(answer);
  }

  /** Settles `pay:<payer>:<number>`. `wrong` pays too little, `elsewhere` was settled elsewhere, `renamed` has
   * the identifier of another payment, `looped` is above the payer's daily limit, and any other text is no payment. */
  #settle(body: Record<string, never>, key: string, store: (answer: object, use: string | null) => unknown): Response {
    const signature = paymentIn(body.payment_signature ?? '');
    const headers = { 'PAYMENT-REQUIRED': CHALLENGE };
    if (signature === 'wrong') return this.#refuse({ status: 422, code: 'payment_mismatch', meta: { reason: 'amount' }, headers });
    if (signature === 'elsewhere') return this.#refuse({ status: 409, code: 'duplicate_settlement' });
    if (signature === 'renamed') return this.#refuse({ status: 409, code: 'idempotency_conflict', meta: { reason: 'payment_identifier' } });
    if (signature === 'looped') {
      const meta = { limit: usdc('5'), paid: usdc('5'), resets_at: '2026-11-22T00:00:00.000Z' };
      return this.#refuse({ status: 429, code: 'payer_limit_reached', meta, headers: { 'Retry-After': '3600' } });
    }
    if (!signature.startsWith('pay:')) return this.#refuse({ status: 422, code: 'validation_error' });
    if (this.pendingSettles-- > 0) {
      const pending = { success: false, error_reason: 'settlement_pending', tx_signature: 'tx', retry_after: this.retryAfter };
      return Response.json(pending, { status: 202, headers: { 'Retry-After': String(this.retryAfter) } });
    }
    const payer = signature.split(':')[1]!;
    const customer = JSON.stringify(body.customer ?? { wallet_address: payer });
    const payment = this.#payments.get(signature) ?? { payer, use: null };
    if (!this.#payments.has(signature)) this.balances.set(customer, (this.balances.get(customer) ?? 0) + this.unitsPerPayment);
    this.#payments.set(signature, payment);
    const earlier = payment.use === null ? null : this.#uses.get(payment.use)!;
    const isDuplicate = earlier !== null && !earlier.isRefunded && earlier.key !== key;
    const units = (body.consume_units as number | undefined) ?? 0;
    if (!isDuplicate && units > 0) payment.use = this.#use(customer, units, key);
    const answer = {
      success: true,
      payment_id: 'p',
      receipt_id: 'r',
      tx_signature: 'tx',
      network: 'n',
      payer,
      entitlement_id: 'e',
      ...(isDuplicate ? { duplicate: true } : {}),
      granted_units: isDuplicate ? 0 : this.unitsPerPayment,
      consumed_units: payment.use === null || isDuplicate ? 0 : units,
      ...(payment.use === null ? {} : { consumption_id: payment.use }),
      remaining: this.balances.get(customer),
      payment_response: btoa(JSON.stringify({ success: true, transaction: 'tx', network: 'n' })),
    };
    if (!isDuplicate) store(answer, payment.use);
    return Response.json(answer, { headers: isDuplicate ? { 'X-Svc-Duplicate-Settlement': 'true' } : {} });
  }

  #refuse({ status, code, meta = {}, headers = {} }: Refused): Response {
    const body = {
      detail: code,
      code,
      request_id: 'req_1',
      docs_url: `https://svc.test/#${code}`,
      retryable: RETRYABLE.includes(code),
      meta,
    };
    return Response.json(body, { status, headers });
  }
}
