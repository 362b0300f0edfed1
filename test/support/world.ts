import type { KeyPairSigner } from '@solana/kit';
import { drizzle } from 'drizzle-orm/d1';
import { utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { sealHash } from '#features/accounts/auth/passwords.ts';
import { emailKeysOf, storeAccount } from '#features/accounts/auth/sign-in.ts';
import { issueToken } from '#features/accounts/auth/tokens.ts';
import { newAccount } from '#features/accounts/new-account.ts';
import { type AttemptMessage, type Env, type Job, type MailMessage, newCtx, type SweepMessage } from '#platform/context.ts';
import { homeForNew } from '#platform/db/directory.ts';
import type { EventType } from '#rules/events.ts';
import type { PlanName } from '#rules/plans.ts';
import type { PriceHabit } from '../../local/service/price-source.ts';
import worker from '../../worker/index.ts';
import { EVENT_CATALOG } from '../../worker/published/event-catalog.ts';
import { SWEEPS as ALL_SWEEPS } from '../../worker/sweeps.ts';
import { type Bill, TestChain } from './chain/chain.ts';
import { expectPublishedResponse } from './clients/call.ts';
import { sessionSince } from './clients/session.ts';
import { prepareOnEvents } from './fixtures/acts.ts';
import { boundDatabases, hasThree, testConfig, testEnv } from './runner/env.ts';
import { type HeldPlacement, holding, invoked, platformQueues, SWEEPS, sweepsSent } from './runner/invocation.ts';
import { metered } from './runner/limits.ts';

export interface Answer<T> {
  status: number;
  body: T;
  headers: Headers;
}

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
export type Body = any;

export interface Merchant {
  token: string;
  userId: AccountId;
  email: string;
  key: string;
  sandboxKey: string;
  wallet: KeyPairSigner;
}

export interface CallOptions {
  key?: string | null;
  body?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
  env?: Env;
  /** Location of the caller, as the platform reports it. */
  cf?: IncomingRequestCfProperties;
  /** Limit of rows read. Throws if the call reads more. Rows read for the total of a list do not count. */
  rowsMax?: number;
}

/** Queue with messages that wait until the test delivers them, in any order and any number of times. */
export interface HeldQueue {
  sent: { job: Job; delaySeconds: number }[];
}

export interface HeldAttempt extends AttemptMessage {
  isSlow: boolean;
  delaySeconds: number;
}

let worlds = 0;

const BATCH_MAX = 10;

/** Databases of the merchants of a world, in turn. */
const TURNS = ['DB_3', 'DB_2', 'DB'];

/** Hash of `correct horse battery`. */
const PASSWORD_HASH = '$scrypt$ln=14,r=8,p=5$c2FsdCBvZiB0aGUgdGVzdA==$Air4tGfgagiYpRK6yJC8fppLEJbbMCcil6SVxyPcgAw=';

/** Sweeps that run less than once a minute. `sweep` skips them, because few tests need them and they take half of a cron's time. */
const HOUSEKEEPING = new Set<string>(ALL_SWEEPS.filter(({ nextDueAt }) => nextDueAt(0) > MINUTE).map(({ name }) => name));

/** Random caller address, because limits count per address, and isolates cache some of them across tests. */
export const strangerAddress = (): string => `10.${[...crypto.getRandomValues(new Uint8Array(3))].join('.')}`;

export const firstRun = (sweep: string): SweepMessage => ({ sweep, round: 1, requestId: 'cron_of_a_test' });

/** First run of a sweep in each database. */
const firstRuns = (sweep: string): SweepMessage[] => {
  const isOfDeployment = ALL_SWEEPS.find(({ name }) => name === sweep)?.isOfDeployment;
  const databases = isOfDeployment ? ['DB'] : Object.keys(boundDatabases()).filter((name) => name !== 'DIRECTORY');
  return databases.map((database) => ({ ...firstRun(sweep), ...(database === 'DB' ? {} : { database }) }));
};

/** Service under test with its own chain, queues and merchants. All worlds of a test file share one database. */
export class World {
  readonly chain: TestChain;
  env: Env;
  readonly queue: HeldQueue = { sent: [] };
  readonly attempts: HeldAttempt[] = [];
  /** Waiting messages of both queues. servers/mail.ts delivers emails, and people/members.ts placements. */
  readonly mail: MailMessage[] = [];
  readonly placements: HeldPlacement[] = [];
  readonly db = drizzle(testEnv.DB);
  #people = 0;
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

  /** Delivers the waiting attempts as one queue batch. Retried attempts wait for the next call. */
  async attempt(waiting: HeldAttempt[] = this.attempts.splice(0), env: Env = this.env): Promise<void> {
    const messages = waiting.map(({ isSlow: _, delaySeconds: __, ...body }, index) => ({
      id: `a${index}`,
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => {},
      retry: () => this.attempts.push(waiting[index]!),
    }));
    await invoked('attempts', (execution) =>
      worker.queue({ queue: 'svc-webhooks', messages } as unknown as MessageBatch<AttemptMessage>, env, execution),
    );
  }

  /** Calls the real worker and checks the answer against the published document. */
  async call<T = Body>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const headers = new Headers(options.headers);
    if (options.key)
      headers.set(
        options.key.startsWith('svc_') ? 'X-Svc-Key' : 'Authorization',
        options.key.startsWith('svc_') ? options.key : `Bearer ${options.key}`,
      );
    if (!headers.has('cf-connecting-ip')) headers.set('cf-connecting-ip', this.address);
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    // A stream has no known content type.
    const isOfJson = body !== undefined && !(body instanceof ReadableStream);
    if (isOfJson && !headers.has('content-type')) headers.set('content-type', 'application/json');
    // Adds Content-Length as a network would, because the platform gets the request directly.
    if (typeof body === 'string' && !headers.has('content-length')) headers.set('content-length', String(utf8(body).length));
    const request = new Request(`https://svc.test${path}`, {
      method,
      headers,
      body: body ?? null,
      ...(options.cf ? { cf: options.cf } : {}),
    });
    const answer = async (execution: ExecutionContext) => {
      const response = await worker.fetch(request, options.env ?? this.env, execution);
      // Avoids `text()`, which warns about a PDF.
      return { response, text: new TextDecoder().decode(await response.arrayBuffer()) };
    };
    const { rowsMax } = options;
    const { response, text } = await invoked(`${method} ${path}`, answer, { countsReads: rowsMax !== undefined, rowsMax });
    const parsed = text === '' ? null : /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
    expectPublishedResponse(method, new URL(request.url).pathname, response.status, parsed);
    return { status: response.status, body: parsed, headers: response.headers };
  }

  /**
   * Stores a merchant with a live and a sandbox key and the password `correct horse battery`, on the scale plan so that quotas do not
   * interfere. The rows equal those of a registration. The password hash is precomputed, because hashing is slow.
   */
  async merchant(plan: PlanName = 'scale'): Promise<Merchant> {
    const email = `merchant-${this.#name}-${++this.#people}@example.com`;
    const env = hasThree ? { OPEN_DATABASES: TURNS[this.#people % TURNS.length]!, ...this.env } : this.env;
    const ctx = homeForNew(newCtx(env, { requestId: 'req_merchant', defer: () => {} }), email);
    const passwordHash = await sealHash(ctx.config.PEPPER, PASSWORD_HASH);
    const account = newAccount(ctx, 'Ada’s weather', { email, emailKey: emailKeysOf(ctx, email).keys[0], passwordHash });
    await storeAccount(ctx, { ...account, plan });
    const { token } = await issueToken(ctx, account, await sessionSince(ctx, account, ctx.wallNow));
    const [key, sandboxKey] = await Promise.all(
      [false, true].map(
        async (sandbox) =>
          (await this.call('POST', '/v1/keys', { key: token, body: { name: 'server', sandbox_mode: sandbox } })).body.raw_key,
      ),
    );
    return { token, userId: account.id, email, key, sandboxKey, wallet: await this.chain.wallet(0n) };
  }

  async product(merchant: Merchant, terms: Record<string, unknown> = {}): Promise<Body> {
    const product = { name: 'Weather API', price: { asset: 'USDC', amount: '5' }, payout_wallet: merchant.wallet.address, ...terms };
    // A second wallet requires a recent sign-in.
    const isSandbox = merchant.key === merchant.sandboxKey;
    const key = product.payout_wallet === undefined || isSandbox ? merchant.key : merchant.token;
    const { warnings: _warnings, ...made } = this.#made(await this.call('POST', '/v1/products', { key, body: product }));
    return made;
  }

  async connect(product: { slug: string }, input: Record<string, unknown> = {}): Promise<Body & Bill> {
    return this.#made(await this.call('POST', `/v1/products/p/${product.slug}/connect`, { body: input }));
  }

  /** Throws if a step that a test depends on fails. */
  #made({ status, body }: Answer<Body>): Body {
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Sets the answers of this world's price source. Default: SOL at 150 dollars. */
  async prices(habit: Partial<PriceHabit> = {}): Promise<void> {
    await fetch(new URL(`/${this.#name}/_habit`, testEnv.TEST_PRICE_URL), { method: 'POST', body: JSON.stringify(habit) });
  }

  confirm(paymentId: string, txSignature: string, options: CallOptions = {}): Promise<Answer<Body>> {
    return this.call('POST', '/v1/pay/confirm', { body: { payment_id: paymentId, tx_signature: txSignature }, ...options });
  }

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

  /** Delivers the held jobs once, in batches of the platform's size. Jobs that they send stay in the queue. */
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

  /** Makes every sweep due, ends all leases, then runs a cron and the messages of its minute sweeps, follow-up messages included. */
  sweep = (env: Env = this.env): Promise<void> => this.#sweep([], env);

  /** Runs the sweeps with longer periods too, such as retention and checks. */
  sweepAll = (env: Env = this.env): Promise<void> => this.#sweep([...HOUSEKEEPING], env);

  async #sweep(housekeeping: readonly string[], env: Env): Promise<void> {
    await testEnv.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
    const messages = (await this.tick(env)).filter(({ sweep }) => !HOUSEKEEPING.has(sweep));
    // A tick asks about a tenth of them.
    messages.push(...housekeeping.flatMap(firstRuns));
    for (let next = messages.shift(); next; next = messages.shift()) messages.push(...(await this.runSweep(next, env)));
  }

  /** Runs one sweep and its follow-up messages. Returns the number of invocations. Throws if one reads more than `rowsMax` rows. */
  async sweepAlone(name: string, env: Env = this.env, rowsMax?: number): Promise<number> {
    await testEnv.DB.prepare('UPDATE sweeps SET due_at = 0, lease_until = 0 WHERE name = ?').bind(name).run();
    let rounds = 0;
    for (const first of firstRuns(name))
      for (let next: SweepMessage | undefined = first; next; rounds++)
        next = (await this.runSweep(next, env, rowsMax)).find(({ sweep }) => sweep === name);
    return rounds;
  }

  async sweepEach(names: readonly string[], env: Env = this.env): Promise<void> {
    for (const name of names) await this.sweepAlone(name, env);
  }

  /** Runs a cron and the ticks of all databases. Returns the messages of the due sweeps. */
  async tick(env: Env = this.env): Promise<SweepMessage[]> {
    const sent: SweepMessage[] = [];
    for (const tick of await this.cron(env)) sent.push(...(await this.runSweep(tick, env)));
    return sent;
  }

  cron = (env: Env = this.env): Promise<SweepMessage[]> => sweepsSent('cron', () => worker.scheduled({} as ScheduledController, env));

  /** Runs one sweep message. Returns the messages that the run sent. */
  runSweep = (body: SweepMessage, env: Env = this.env, rowsMax?: number): Promise<SweepMessage[]> => {
    const batch = { queue: 'svc-sweeps', messages: [{ id: 's0', timestamp: new Date(), attempts: 1, body }] };
    const run = (execution: ExecutionContext) => worker.queue(batch as unknown as MessageBatch<SweepMessage>, env, execution);
    return sweepsSent(`sweep ${body.sweep}`, run, rowsMax);
  };

  async count(
    table: 'events' | 'receipts' | 'tx_claims' | 'payment_candidates' | 'unmatched_payments',
    paymentId: string,
  ): Promise<number> {
    const column = table === 'tx_claims' ? 'subject_id' : 'payment_id';
    const row = await testEnv.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} = ?`).bind(paymentId).first<{ n: number }>();
    return row!.n;
  }

  /** Returns the event types of a payment in order. Checks each event against its published schema. */
  async eventTypes(paymentId: string): Promise<string[]> {
    const { results } = await prepareOnEvents(testEnv.DB, 'SELECT type, data FROM events WHERE payment_id = ? ORDER BY seq')
      .bind(paymentId)
      .all<{ type: EventType; data: string }>();
    for (const { type, data } of results) EVENT_CATALOG[type].object.parse(JSON.parse(data).object);
    return results.map(({ type }) => type);
  }
}
