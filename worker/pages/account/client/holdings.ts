import { callApi } from '../../browser/call-api.ts';
import type { Answer } from '../../parts/answer.ts';
import type { Amount } from '../../parts/text.ts';
import type { Holdings, ShownClaim, ShownKey, ShownProduct } from '../dashboard/machine.ts';

interface AccountAnswer {
  display_name: string;
  email: string | null;
  email_verified: boolean;
  email_problem?: 'bounced' | 'complained';
  claimed?: { at: string } & ShownClaim['ended'];
  wallet_address: string | null;
  tier: string;
}
interface ProductPage {
  items: { product_id: string; name: string; price: Amount; checkout_url: string; status: 'active' | 'archived'; livemode: boolean }[];
  total: number;
}
interface KeyAnswer {
  id: string;
  name: string;
  key_prefix: string;
  sandbox_mode: boolean;
  revoked_at: string | null;
}
interface IdentityPage {
  items: { provider: string; email?: string }[];
}
export interface MadeKey {
  key: KeyAnswer;
  raw_key: string;
}

export const toShownKey = ({ id, name, key_prefix, sandbox_mode }: KeyAnswer): ShownKey => ({
  id,
  name,
  prefix: key_prefix,
  isLive: !sandbox_mode,
});

const toShownProducts = ({ items }: ProductPage): ShownProduct[] =>
  items.map(({ product_id, name, price, checkout_url, status, livemode }) => ({
    id: product_id,
    name,
    price,
    checkoutUrl: checkout_url,
    isActive: status === 'active',
    isLive: livemode,
  }));

const CLAIM_NOTICE_MS = 30 * 86_400_000;

function toShownClaim(claimed: AccountAnswer['claimed']): ShownClaim | null {
  if (!claimed || Date.parse(claimed.at) < Date.now() - CLAIM_NOTICE_MS) return null;
  const { at, ...ended } = claimed;
  return { at, ended };
}

/** Loads account, newest products of both modes, active keys and linked providers. Returns the first refusal, if any. */
export async function readHoldings(token: string): Promise<Answer<Holdings>> {
  const get = <T>(path: string) => callApi<T>('GET', path, { token });
  const [account, live, test, keys, identities] = await Promise.all([
    get<AccountAnswer>('/v1/account/me'),
    get<ProductPage>('/v1/products'),
    get<ProductPage>('/v1/products?mode=sandbox'),
    get<KeyAnswer[]>('/v1/keys'),
    get<IdentityPage>('/v1/account/identities'),
  ]);
  if (!account.ok) return account;
  if (!live.ok) return live;
  if (!test.ok) return test;
  if (!keys.ok) return keys;
  if (!identities.ok) return identities;
  const { display_name, email, email_verified, email_problem = null, wallet_address, tier, claimed } = account.value;
  const value: Holdings = {
    account: { name: display_name, email, isVerified: email_verified, unreachable: email_problem, wallet: wallet_address, plan: tier },
    claim: toShownClaim(claimed),
    products: [live.value, test.value].flatMap(toShownProducts),
    productsTotal: live.value.total + test.value.total,
    keys: keys.value.filter(({ revoked_at }) => revoked_at === null).map(toShownKey),
    identities: identities.value.items.map(({ provider, email }) => ({ provider, email: email ?? null })),
  };
  return { ok: true, value };
}
