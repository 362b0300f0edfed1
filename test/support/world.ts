import type { KeyPairSigner } from '@solana/kit';
import { drizzle } from 'drizzle-orm/d1';
import { utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { sealHash } from '#features/accounts/auth/passwords.ts';
import { emailKeysOf, newAccount, storeAccount } from '#features/accounts/auth/sign-in.ts';
import { issueToken } from '#features/accounts/auth/tokens.ts';
import { type AttemptMessage, type Env, type Job, type MailMessage, newCtx, type SweepMessage } from '#platform/context.ts';
import { newestOf } from '#platform/db/directory.ts';
import type { EventType } from '#rules/events.ts';
import type { PlanName } from '#rules/plans.ts';
import type { PriceHabit } from '../../local/service/price-source.ts';
import worker from '../../worker/index.ts';
import { EVENT_CATALOG } from '../../worker/published/event-catalog.ts';
import { SWEEPS as ALL_SWEEPS } from '../../worker/sweeps.ts';
import { type Bill, TestChain } from './chain/chain.ts';
import { expectPublishedResponse } from './clients/call.ts';
import { testConfig, testEnv } from './runner/env.ts';
import { type HeldPlacement, holding, invoked, platformQueues, SWEEPS, sweepsSent } from './runner/invocation.ts';
import { metered } from './runner/limits.ts';

export interface Answer<T> {
  status: number;
  body: T;
  headers: Headers;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers whose shape call() has already checked against the document.
type Body = any;

export interface Merchant {
  token: string;
  userId: AccountId;
  email: string;
  /** Raw keys with read and execute. */
  key: string;
  sandboxKey: string;
  wallet: KeyPairSigner;
}

export interface CallOptions {
  key?: string | null;
  body?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
  /** Another environment for this call: a wrapped database, a faulty queue. */
  env?: Env;
  /** Fails where it reads more rows than this, what a list counts aside. */
  rowsMax?: number;
}

/** The queue as a test holds it: what was sent waits until the test delivers it, in any order, as often as it likes. */
export interface HeldQueue {
  sent: { job: Job; delaySeconds: number }[];
}

/** Attempts waiting in the two webhook queues. */
export interface HeldAttempt {
  deliveryId: number;
  isSlow: boolean;
  delaySeconds: number;
  database?: string | undefined;
  requestId?: string | undefined;
}

let worlds = 0;

/** Of svc-jobs in wrangler.toml. */
const BATCH_MAX = 10;

/** Of `correct horse battery`. */
const PASSWORD_HASH = '$scrypt$ln=14,r=8,p=5$c2FsdCBvZiB0aGUgdGVzdA==$Air4tGfgagiYpRK6yJC8fppLEJbbMCcil6SVxyPcgAw=';

/** What most tests are not about, and half of the time that a cron takes. */
const HOUSEKEEPING = new Set(ALL_SWEEPS.filter(({ nextDueAt }) => nextDueAt(0) > MINUTE).map(({ name }) => name));

/** Where one more caller calls from: what an address may do is counted, some of it on every machine. */
export const strangerAddress = (): string => `10.${[...crypto.getRandomValues(new Uint8Array(3))].join('.')}`;

export const firstRun = (sweep: string): SweepMessage => ({ sweep, round: 1, requestId: 'cron_of_a_test' });

/** One service, one chain, and people in it. Each world has its own chain; the database is the test file's. */
export class World {
  readonly chain: TestChain;
  readonly env: Env;
  readonly queue: HeldQueue = { sent: [] };
  readonly attempts: HeldAttempt[] = [];
  /** Letters, and members' places, whose message waits in its queue: world/mail.ts and world/members.ts deliver them. */
  readonly mail: MailMessage[] = [];
  readonly placements: HeldPlacement[] = [];
  readonly db = drizzle(testEnv.DB);
  #people = 0;
  /** Of calls that name none: files share a worker, and what one of them does must not be counted against another. */
  readonly address = strangerAddress();
  readonly #name: string;

  constructor(config: Record<string, string> = {}) {
    this.#name = `w${++worlds}-${crypto.randomUUID().slice(0, 8)}`;
    const settings = testConfig(this.#name);
    this.chain = new TestChain(settings.RPC_URL!);
    const send = async (job: Job, options?: { delaySeconds?: number }) => {
      this.queue.sent.push({ job, delaySeconds: options?.delaySeconds ?? 0 });
      return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: undefined } } };
    };
    const sendBatch = async (messages: Iterable<{ body: Job }>) => {
      for (const { body } of messages) await send(body);
    };
    this.env = {
      ...metered(testEnv),
      ...settings,
      ...config,
      JOBS: { send, sendBatch } as unknown as Queue<Job>,
      SANDBOX: { send, sendBatch } as unknown as Queue<Job>,
      WEBHOOKS: this.#attemptQueue(false),
      WEBHOOKS_SLOW: this.#attemptQueue(true),
      MAIL: holding(this.mail),
      ...platformQueues(this.placements),
      SWEEPS,
    };
  }

  #attemptQueue(isSlow: boolean): Queue<AttemptMessage> {
    const sendBatch = async (messages: Iterable<{ body: AttemptMessage; delaySeconds?: number }>) => {
      for (const { body, delaySeconds = 0 } of messages) this.attempts.push({ ...body, isSlow, delaySeconds });
    };
    return { sendBatch } as unknown as Queue<AttemptMessage>;
  }

  /** Makes the attempts that wait, as one batch of the queue; what they put back waits for the next call. */
  async attempt(waiting: HeldAttempt[] = this.attempts.splice(0), env: Env = this.env): Promise<void> {
    const messages = waiting.map(({ deliveryId, requestId, database }, index) => ({
      id: `a${index}`,
      timestamp: new Date(),
      attempts: 1,
      body: { deliveryId, requestId, database },
      ack: () => {},
      retry: () => this.attempts.push(waiting[index]!),
    }));
    await invoked('attempts', (execution) =>
      worker.queue({ queue: 'svc-webhooks', messages } as unknown as MessageBatch<AttemptMessage>, env, execution),
    );
  }

  /** A request through the real worker, its answer checked against the published document. */
  async call<T = Body>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const headers = new Headers(options.headers);
    if (options.key)
      headers.set(
        options.key.startsWith('svc_') ? 'X-Svc-Key' : 'Authorization',
        options.key.startsWith('svc_') ? options.key : `Bearer ${options.key}`,
      );
    if (!headers.has('cf-connecting-ip')) headers.set('cf-connecting-ip', this.address);
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    // A stream says nothing of what it holds.
    const isOfJson = body !== undefined && !(body instanceof ReadableStream);
    if (isOfJson && !headers.has('content-type')) headers.set('content-type', 'application/json');
    // As over a wire: where the platform is given a request itself, nothing on the way adds it.
    if (typeof body === 'string' && !headers.has('content-length')) headers.set('content-length', String(utf8(body).length));
    const request = new Request(`https://svc.test${path}`, { method, headers, body: body ?? null });
    const answer = async (execution: ExecutionContext) => {
      const response = await worker.fetch(request, options.env ?? this.env, execution);
      // Not by `text()`, which warns of a PDF.
      return { response, text: new TextDecoder().decode(await response.arrayBuffer()) };
    };
    const { rowsMax } = options;
    const { response, text } = await invoked(`${method} ${path}`, answer, { countsReads: rowsMax !== undefined, rowsMax });
    const parsed = text === '' ? null : /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
    expectPublishedResponse(method, new URL(request.url).pathname, response.status, parsed);
    return { status: response.status, body: parsed, headers: response.headers };
  }

  /**
   * A merchant with a live and a sandbox key, and the password `correct horse battery`. On the scale plan, so that quotas stay out of the
   * way unless asked for. Stored as registering would, but for the hash of the password, which takes longer than most tests.
   */
  async merchant(plan: PlanName = 'scale'): Promise<Merchant> {
    const email = `merchant-${this.#name}-${++this.#people}@example.com`;
    const ctx = newCtx(this.env, { requestId: 'req_merchant', defer: () => {} });
    const passwordHash = await sealHash(ctx.config.PEPPER, PASSWORD_HASH);
    const account = newAccount(ctx, 'Ada’s weather', { email, emailKey: emailKeysOf(ctx, email).keys[0], passwordHash });
    await storeAccount(newestOf(ctx), { ...account, plan });
    const { token } = await issueToken(ctx, account, { authTime: ctx.now, firstIat: ctx.now, method: 'pwd' });
    const [key, sandboxKey] = await Promise.all(
      [false, true].map(
        async (sandbox) =>
          (await this.call('POST', '/v1/keys', { key: token, body: { name: 'server', sandbox_mode: sandbox } })).body.raw_key,
      ),
    );
    return { token, userId: account.id, email, key, sandboxKey, wallet: await this.chain.wallet(0n) };
  }

  /** An active product, for USDC unless said otherwise, paid out to the merchant's wallet. */
  async product(merchant: Merchant, terms: Record<string, unknown> = {}): Promise<Body> {
    const product = { name: 'Weather API', price: { asset: 'USDC', amount: '5' }, payout_wallet: merchant.wallet.address, ...terms };
    // Another wallet than the first takes a person who just signed in.
    const isSandbox = merchant.key === merchant.sandboxKey;
    const key = product.payout_wallet === undefined || isSandbox ? merchant.key : merchant.token;
    const { warnings: _warnings, ...made } = this.#made(await this.call('POST', '/v1/products', { key, body: product }));
    return made;
  }

  async connect(product: { slug: string }, input: Record<string, unknown> = {}): Promise<Body & Bill> {
    return this.#made(await this.call('POST', `/v1/products/p/${product.slug}/connect`, { body: input }));
  }

  /** A step on the way to what a test is about: it has to work. */
  #made({ status, body }: Answer<Body>): Body {
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** How the price source of this world answers from now on: without a word, SOL at 150 dollars. */
  async prices(habit: Partial<PriceHabit> = {}): Promise<void> {
    await fetch(new URL(`/${this.#name}/_habit`, testEnv.TEST_PRICE_URL), { method: 'POST', body: JSON.stringify(habit) });
  }

  confirm(paymentId: string, txSignature: string, options: CallOptions = {}): Promise<Answer<Body>> {
    return this.call('POST', '/v1/pay/confirm', { body: { payment_id: paymentId, tx_signature: txSignature }, ...options });
  }

  /** A paid and confirmed purchase, from connect to receipt. */
  async purchase(
    product: { slug: string },
    buyer: KeyPairSigner,
    input: Record<string, unknown> = {},
  ): Promise<{ payment: Body; signature: string; confirmed: Body }> {
    const payment = await this.connect(product, input);
    const signature = await this.chain.pay(buyer, payment);
    const { body: confirmed } = await this.confirm(payment.payment_id, signature);
    return { payment, signature, confirmed };
  }

  /** Delivers what the queue holds, once, in invocations of as many messages as the platform gives one; what these jobs send in turn stays held. */
  async deliver(jobs: Job[] = this.queue.sent.splice(0).map(({ job }) => job), env: Env = this.env): Promise<{ retried: number }> {
    let retried = 0;
    const messages = jobs.map((body, index) => ({
      id: `m${index}`,
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => {},
      retry: () => retried++,
    }));
    for (let from = 0; from < messages.length; from += BATCH_MAX) {
      const batch = { queue: 'svc-jobs', messages: messages.slice(from, from + BATCH_MAX) };
      await invoked('jobs', (execution) => worker.queue(batch as unknown as MessageBatch<Job>, env, execution));
    }
    return { retried };
  }

  /** A cron when every sweep of each minute is due and no lease of a run that died is left, and then all that its messages bring about. */
  sweep = (env: Env = this.env): Promise<void> => this.#sweepWhere((sweep) => !HOUSEKEEPING.has(sweep), env);

  /** The same with what is due every ten minutes: what is kept for a while only, and what is looked over. */
  sweepAll = (env: Env = this.env): Promise<void> => this.#sweepWhere(() => true, env);

  async #sweepWhere(isWanted: (sweep: string) => boolean, env: Env): Promise<void> {
    await testEnv.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
    const messages = (await this.cron(env)).filter(({ sweep }) => isWanted(sweep));
    for (let next = messages.shift(); next; next = messages.shift()) messages.push(...(await this.runSweep(next, env)));
  }

  /** Runs one sweep alone, and what it leaves for itself. Answers how many invocations that took; fails where one reads more than `rowsMax` rows. */
  async sweepAlone(name: string, env: Env = this.env, rowsMax?: number): Promise<number> {
    await testEnv.DB.prepare('UPDATE sweeps SET due_at = 0, lease_until = 0 WHERE name = ?').bind(name).run();
    let rounds = 0;
    for (let next: SweepMessage | undefined = firstRun(name); next; rounds++)
      next = (await this.runSweep(next, env, rowsMax)).find(({ sweep }) => sweep === name);
    return rounds;
  }

  /** Runs these sweeps one after the other, and all that they leave for themselves. */
  async sweepEach(names: readonly string[], env: Env = this.env): Promise<void> {
    for (const name of names) await this.sweepAlone(name, env);
  }

  /** What one cron sends. */
  cron = (env: Env = this.env): Promise<SweepMessage[]> => sweepsSent('cron', () => worker.scheduled({} as ScheduledController, env));

  /** Brings one message of the cron, or of a sweep before it; answers what that run sent in turn. */
  runSweep = (body: SweepMessage, env: Env = this.env, rowsMax?: number): Promise<SweepMessage[]> => {
    const batch = { queue: 'svc-sweeps', messages: [{ id: 's0', timestamp: new Date(), attempts: 1, body }] };
    const run = (execution: ExecutionContext) => worker.queue(batch as unknown as MessageBatch<SweepMessage>, env, execution);
    return sweepsSent(`sweep ${body.sweep}`, run, rowsMax);
  };

  /** Rows of a table that belong to a payment. */
  async count(
    table: 'events' | 'receipts' | 'tx_claims' | 'payment_candidates' | 'unmatched_payments',
    paymentId: string,
  ): Promise<number> {
    const column = table === 'tx_claims' ? 'subject_id' : 'payment_id';
    const row = await testEnv.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(paymentId).first<{ n: number }>();
    return row!.n;
  }

  /** The types of a payment's events in their order; each is held against the schema it is published with. */
  async eventTypes(paymentId: string): Promise<string[]> {
    const { results } = await testEnv.DB.prepare('SELECT type, data FROM events WHERE payment_id = ? ORDER BY seq')
      .bind(paymentId)
      .all<{ type: EventType; data: string }>();
    for (const { type, data } of results) EVENT_CATALOG[type].object.parse(JSON.parse(data).object);
    return results.map(({ type }) => type);
  }
}
