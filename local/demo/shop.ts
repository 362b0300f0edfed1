import { randomBytes } from 'node:crypto';
import { generateKeyPairSigner } from '@solana/kit';
import type { Api } from '../cli/api.ts';
import type { Narrator } from './narrator.ts';
import type { WalletChain } from './wallet.ts';

export interface DemoContext {
  api: Api;
  chain: WalletChain;
  narrator: Narrator;
}

export interface Money {
  asset: string;
  amount: string;
  base_units: string;
}

export interface Shop {
  key: string;
  payoutWallet: string;
  product: { product_id: string; slug: string; name: string; price: Money };
}

/** Sets up a merchant: account, key, product. */
export async function openShop({ api, narrator }: DemoContext): Promise<Shop> {
  narrator.step('Ada opens an account');
  const account = { email: 'ada@weather.example', password: randomBytes(12).toString('base64url'), display_name: 'Ada’s Weather' };
  const { token, user_id, tier } = await api.must<{ token: string; user_id: string; tier: string }>('POST', '/v1/auth/register', {
    body: account,
  });
  narrator.fact('account', `${user_id} (${account.email}, ${tier} plan)`);

  narrator.step('She makes a live key for her server');
  const { key, raw_key } = await api.must<{ key: { permissions: string[] }; raw_key: string }>('POST', '/v1/keys', {
    credential: token,
    body: { name: 'server' },
  });
  // Demo output ends up in logs and screenshots, so only a prefix of the key is printed.
  narrator.fact('key', `${raw_key.slice(0, 13)}… (shown once; may ${key.permissions.join(' and ')})`);

  narrator.step('She puts thirty days of forecasts up for 5 USDC');
  const wallet = await generateKeyPairSigner();
  const product = await api.must<Shop['product']>('POST', '/v1/products', {
    credential: raw_key,
    body: {
      name: 'Forecasts, 30 days',
      price: { asset: 'USDC', amount: '5' },
      access_period_days: 30,
      usage_units: null,
      payout_wallet: wallet.address,
    },
  });
  narrator.fact('product', `${product.name} for ${product.price.amount} ${product.price.asset} (${product.slug})`);
  narrator.fact('paid out to', wallet.address);
  return { key: raw_key, payoutWallet: wallet.address, product };
}
