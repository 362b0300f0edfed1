import { MAIL, NODES, PRICES, PROCESSOR } from './outside/hosts.ts';
import { PROCESSOR_SETTINGS } from './outside/processor.ts';

const seed = (fill: number): string => Buffer.alloc(32, fill).toString('base64url');

/** Wallet that is paid for plans. */
export const TREASURY = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';

/** Seconds after the end of a checkout session in which a block is on time. */
export const LATE_GRACE_SECONDS = 60;

const SOL_USD_FEED = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d';

export const FEE_PAYER_SEED = Buffer.alloc(32, 6);
/** Keys that open and settle payment channels, and that collect subscriptions. */
export const CHANNEL_SEED = Buffer.alloc(32, 14);
export const PULLER_SEED = Buffer.alloc(32, 15);

/** Deployment variables of the simulated service. Rates are multiplied, because they would end most histories early. */
export const SETTINGS: Readonly<Record<string, string>> = {
  NETWORK: 'devnet',
  RPC_URLS: NODES.map((node) => `https://${node}/`).join(),
  BASE_URL: 'https://svc.test',
  SERVICE_REFERENCE: '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x',
  RATE_MULTIPLIER: '100000',
  TREASURY_WALLET: TREASURY,
  SESSION_SECONDS: '180',
  LATE_GRACE_SECONDS: `${LATE_GRACE_SECONDS}`,
  PEPPER: 'a pepper for tests, thirty-two bytes or more',
  JWT_KEYS: seed(1),
  RECEIPT_KEYS: `${seed(2)},${seed(3)}`,
  SEAL_KEYS: `${seed(4)},${seed(5)}`,
  FACTOR_KEYS: `${seed(14)},${seed(15)}`,
  FEE_PAYER_KEYS: FEE_PAYER_SEED.toString('base64url'),
  CHALLENGE_KEYS: `${seed(7)},${seed(8)}`,
  HANDOFF_SECRETS: `${seed(9)},${seed(10)}`,
  EMAIL_LINK_KEYS: `${seed(11)},${seed(12)}`,
  SANDBOX_SEED: seed(13),
  CHANNEL_KEYS: CHANNEL_SEED.toString('base64url'),
  SUBSCRIPTION_KEYS: PULLER_SEED.toString('base64url'),
  PRICE_URL: `https://${PRICES}/v2/updates/price/latest?ids[]=${SOL_USD_FEED}&parsed=true`,
  MAIL_PROVIDER: 'resend',
  MAIL_FROM: 'Payments <pay@svc.test>',
  RESEND_API_KEY: 're_simulated',
  RESEND_API_URL: `https://${MAIL}`,
  ...PROCESSOR_SETTINGS(PROCESSOR),
};
