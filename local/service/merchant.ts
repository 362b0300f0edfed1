import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import type { Api } from '../cli/api.ts';
import { Refusal } from '../cli/options.ts';
import { openSecrets, saveSecrets } from '../cli/secrets.ts';

interface DemoProduct {
  product_id: string;
  slug: string;
  name: string;
  price: { asset: string; amount: string };
}

export interface DemoMerchant {
  email: string;
  password: string;
  key: string;
  payoutWallet: string;
  product: DemoProduct;
}

const SLUG = 'demo';
const DISPLAY_NAME = 'Demo Weather Co.';

/**
 * The merchant to play with: the first start registers it, makes a live key and one product. Later starts sign in and find
 * what is there. Whatever is missing is made again, so a database that was thrown away is no trouble.
 */
export async function openDemoMerchant(api: Api, stateDir: string): Promise<DemoMerchant> {
  const secrets = openSecrets(stateDir);
  const { email, password, payoutSeed } = secrets.merchant;
  const token = await signIn(api, email, password);
  const key = await openKey(api, token, secrets.merchant.key);
  if (key !== secrets.merchant.key) saveSecrets(stateDir, { ...secrets, merchant: { ...secrets.merchant, key } });
  await api.call('POST', '/v1/auth/logout', { credential: token, body: { end: 'session' } });
  const payout = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(payoutSeed, 'base64url'));
  const product = await openProduct(api, key, payout.address);
  return { email, password, key, payoutWallet: payout.address, product };
}

/** Signs in, or registers the account of a new database. Returns a session token. */
export async function signIn(api: Api, email: string, password: string): Promise<string> {
  const login = await api.call<{ token: string }>('POST', '/v1/auth/login', { body: { email, password } });
  if (login.status === 200) return login.body.token;
  const body = { email, password, display_name: DISPLAY_NAME };
  const registered = await api.call<{ token: string; code?: string }>('POST', '/v1/auth/register', { body });
  if (registered.status === 201) return registered.body.token;
  if (registered.body.code === 'email_registered') {
    throw new Refusal('The database and secrets.json do not belong together. Delete the state directory to begin anew.');
  }
  throw new Error(`The demo merchant could not register: ${registered.status} ${JSON.stringify(registered.body)}`);
}

/** Returns the known key if the service still accepts it, else a new one. */
export async function openKey(api: Api, token: string, known: string | undefined, terms = {}): Promise<string> {
  if (known !== undefined && (await api.call('GET', '/v1/account/me', { credential: known })).status === 200) return known;
  const made = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'demo', ...terms } });
  return made.raw_key;
}

async function openProduct(api: Api, key: string, payoutWallet: string): Promise<DemoProduct> {
  const { items } = await api.must<{ items: DemoProduct[] }>('GET', '/v1/products', { credential: key });
  const existing = items.find(({ slug }) => slug === SLUG);
  if (existing) return existing;
  return api.must<DemoProduct>('POST', '/v1/products', {
    credential: key,
    body: {
      name: 'Weather API, 30 days',
      slug: SLUG,
      price: { asset: 'USDC', amount: '5' },
      access_period_days: 30,
      usage_units: null,
      payout_wallet: payoutWallet,
    },
  });
}
