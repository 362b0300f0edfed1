import type { PageFacts, PagePayment } from '../../worker/pages/checkout/facts.ts';
import type { PageNews } from '../../worker/pages/checkout/machine/events.ts';
import type { PaymentStatus } from '../../worker/pages/checkout/wire.ts';
import en from '../../worker/pages/locales/en.json';
import type { Failure } from '../../worker/pages/parts/answer.ts';

/** What the checkout page is told, by the server and by the service. */
export const START = Date.parse('2026-03-01T12:00:00Z');
const SESSION_MS = 300_000;
export const UNCERTAIN_MS = 180_000;

export const pageFacts = (changed: Partial<PageFacts> = {}): PageFacts => ({
  now: new Date(START).toISOString(),
  slug: 'forecasts',
  pageUrl: 'https://svc.test/p/forecasts',
  locale: 'en',
  text: en,
  isPayable: true,
  obstacle: null,
  productName: 'Forecasts',
  sellerName: 'Ada',
  sellerDomain: null,
  price: { asset: 'USDC', amount: '5' },
  gains: ['Access for 30 days'],
  accessGain: 'Access for 30 days',
  estimates: { SOL: { asset: 'SOL', amount: '0.0333' } },
  sessionSeconds: 300,
  onrampUrl: null,
  supportUrl: null,
  assets: ['USDC', 'SOL'],
  payees: { USDC: 'seller' },
  uncertainMs: UNCERTAIN_MS,
  network: 'devnet',
  buttonLabel: null,
  cancelUrl: null,
  isPhone: false,
  paymentSessionId: null,
  handoffToken: null,
  begun: null,
  ownWallet: null,
  ...changed,
});

export const failure = (code: string, status = 422): Failure => ({ ok: false, status, code, detail: '', meta: {}, retryAfterMs: null });

export const newPayment = (paymentId: string, at: number): PagePayment => ({
  paymentId,
  price: { asset: 'USDC', amount: '5' },
  fee: null,
  recipient: 'seller',
  memo: 'memo',
  solanaPayUrl: 'solana:seller',
  expiresAt: new Date(at + SESSION_MS).toISOString(),
  quote: null,
  txSignature: null,
});

export const newStatus = (payment: PagePayment, changed: Partial<PaymentStatus> = {}): PaymentStatus => ({
  payment_id: payment.paymentId,
  slug: 'forecasts',
  status: 'PENDING_SIGNATURE',
  price: payment.price,
  recipient_wallet: payment.recipient,
  memo: payment.memo,
  expires_at: payment.expiresAt,
  poll_after_ms: 1000,
  ...changed,
});

/** What a buyer can do, where the page lets them. */
export const DEEDS: PageNews[] = [
  { kind: 'walletPressed', walletName: 'Signer' },
  { kind: 'walletPressed', walletName: 'Sender' },
  { kind: 'phonePressed' },
  { kind: 'cancelPressed' },
  { kind: 'startAgainPressed' },
  { kind: 'startAnewPressed' },
  { kind: 'assetChosen', asset: 'SOL' },
  { kind: 'assetChosen', asset: 'USDC' },
  { kind: 'identityFinished' },
  { kind: 'foundContinued' },
  { kind: 'foundDeclined' },
];
