import type { Host } from './host.ts';

/** Successful transaction that moved USDC to a wallet, as the chain shows it now. */
export interface Landed {
  signature: string;
  memos: readonly string[];
  units: bigint;
  blockTimeMs: number;
}

export interface Endpoint {
  endpointId: string;
  box: string;
  livemode: boolean;
  /** Every secret that may sign, the newest last. Deliveries from `since` to `until` have a signature of it. */
  secrets: { secret: string; since: number; until: number }[];
  since: number;
}

export interface Product {
  productId: string;
  slug: string;
  livemode: boolean;
  priceUnits: bigint;
  /** Units that one purchase buys. Null: the product sells time. */
  units: number | null;
}

export interface Shop {
  name: string;
  accountId: string;
  token: string;
  liveKey: string;
  sandboxKey: string;
  /** Wallets that it was ever paid on, the first one first. */
  wallets: string[];
  products: Product[];
  /** Products that renew by themselves, which no other buyer may take. */
  plans: Product[];
  endpoints: Endpoint[];
}

export type TestOutcome = 'paid' | 'underpaid' | 'declined' | 'late' | 'overpaid';

/** Checkout session that a buyer opened. */
export interface Sale {
  paymentId: string;
  shop: Shop;
  product: Product;
  livemode: boolean;
  /** Wallet that is paid. */
  recipient: string;
  memo: string;
  priceUnits: bigint;
  expiresAt: number;
  /** Payments in the sandbox, which has no chain that the book can read. */
  tests: TestOutcome[];
}

/** Success that settled an x402 payment. */
export interface Settled {
  shop: Shop;
  product: Product;
  livemode: boolean;
  paymentId: string;
  signature: string;
  payer: string;
  consumptionId?: string;
}

export interface Customer {
  wallet_address?: string;
  customer_ref?: string;
}

/** Units of one customer that answers reported: given by the merchant, used and returned. What was paid for is not among them. */
export interface Holding {
  shop: Shop;
  product: Product;
  customer: Customer;
  granted: number;
  used: number;
  returned: number;
  /** Uses that were not returned. */
  uses: { consumptionId: string; units: number }[];
}

/** Checkout of a product that renews by itself. */
export interface Subscription {
  shop: Shop;
  product: Product;
  wallet: string;
  paymentId: string;
  authorizationId: string;
  /** Address of the subscription on the chain, which each collection names. */
  address: string;
  periodMs: number;
  expiresAt: number;
  /** Time at which the wallet subscribed. Null: it did not. */
  consentedAt: number | null;
  /** True if the buyer cancelled or the merchant stopped it, perhaps before the first collection. */
  isUndone: boolean;
}

/** Metered session that a buyer opened, and what its answers and the buyer's vouchers say. */
export interface Stream {
  shop: Shop;
  product: Product;
  livemode: boolean;
  sessionId: string;
  /** Address of the channel. A sandbox has none on the chain. */
  channelId: string;
  /** Deposit that was claimed, for a sandbox without a chain. */
  deposit: bigint;
  /** Highest amount of any voucher that the buyer signed. */
  signed: bigint;
  /** Highest amount that an answer accepted. */
  acknowledged: bigint;
}

/** Account that was deleted after a buyer had connected. */
export interface Closed {
  shop: Shop;
  slug: string;
  paymentId: string;
  /** Transaction by which the buyer paid afterwards. Null: none. */
  signature: string | null;
  at: number;
}

export interface Received {
  box: string;
  at: number;
  headers: Record<string, string>;
  body: string;
  /** Status that the receiver answered. Null: the connection broke. */
  answered: number | null;
}

export interface Scenario {
  shop: Shop;
  sessionId: string;
  scenario: string;
  expected: string[];
}

/** How long a fault explains refusals: leases, circuit breakers and a full database last that long. */
const TROUBLE_MS = 120_000;

/** Record of what the actors did and saw. */
export class History {
  readonly shops: Shop[] = [];
  readonly sales: Sale[] = [];
  readonly settled: Settled[] = [];
  readonly holdings: Holding[] = [];
  /** Consumptions that were returned. */
  readonly returned = new Set<string>();
  /** Successes of payments that merchants' own servers settled through the service. */
  readonly facilitated: { shop: Shop; signature: string; units: bigint }[] = [];
  readonly closed: Closed[] = [];
  /** First block times of transactions that a fork took. Some land again much later. */
  readonly taken = new Map<string, number>();
  readonly streams: Stream[] = [];
  readonly subscriptions: Subscription[] = [];
  readonly received: Received[] = [];
  /** Receipts of plans that were answered. */
  readonly planReceipts: { shop: Shop; receiptId: string }[] = [];
  /** Plans that a card pays, at the price of any time. */
  readonly cardPlans: { shop: Shop; plan: string }[] = [];
  readonly scenarios: Scenario[] = [];
  /** Violations that the actors met themselves: answers outside the document, unexplained failures, leaks. */
  readonly findings: string[] = [];
  /** Steps in plain words, in the order of their ends. */
  readonly log: string[] = [];
  /** Writes that have no answer yet. */
  readonly unanswered: (() => Promise<boolean>)[] = [];
  /** Ends the faults of everything outside the service. */
  calm: () => void = () => {};
  /** Transactions that moved USDC to a wallet. */
  landed: (wallet: string) => Landed[] = () => [];
  /** Changes of an owner's USDC in the transactions that name an account. */
  moved: (account: string, owner: string) => bigint[] = () => [];
  /** True if a transaction on the chain names an account. */
  names: (account: string, signature: string) => boolean = () => false;
  /** Time after the end of a checkout session in which a block is on time. */
  readonly lateGraceMs: number;
  /** Wallet that is paid for plans. */
  readonly treasury: string;
  readonly #host: Host;
  #faultsSeen = 0;
  #troubledUntil = 0;

  constructor(host: Host, { lateGraceMs, treasury }: Pick<History, 'lateGraceMs' | 'treasury'>) {
    this.#host = host;
    this.lateGraceMs = lateGraceMs;
    this.treasury = treasury;
  }

  /** True while a node still has faults to answer with, which its next calls meet at any later time. */
  areNodesSpoiled = false;

  /** True if days passed at once. Simulated crons are then further apart than a checkout lasts, unlike those of the platform. */
  haveDaysPassed = false;

  /** Notes that something outside fails, which explains refusals for a while. */
  noteTrouble(): void {
    this.#troubledUntil = this.#host.now() + TROUBLE_MS;
  }

  /** True if a fault that struck lately explains that the service refuses. */
  isTroubled(): boolean {
    const faults = this.#host.faults?.() ?? 0;
    if (faults > this.#faultsSeen) this.noteTrouble();
    this.#faultsSeen = faults;
    return this.#host.now() < this.#troubledUntil;
  }

  /** Transactions that moved USDC to any wallet of a shop. */
  landedAt({ wallets }: Shop): Landed[] {
    return wallets.flatMap((wallet) => this.landed(wallet));
  }

  note(actor: string, words: string): void {
    this.log.push(`${new Date(this.#host.now()).toISOString()} ${actor}: ${words}`);
  }

  find(sentence: string): void {
    this.findings.push(sentence);
  }
}
