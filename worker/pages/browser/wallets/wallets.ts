import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { plain } from '../../parts/text.ts';
import { isTest, type WalletChoice, type WalletRefusal, type WalletTerms } from '../../parts/wallet-choice.ts';

const CONNECT = 'standard:connect';
export const OWN_WALLET_NAMES = { demo: 'Demo wallet', test: 'Test wallet' } as const;

/** Alternatives: a wallet needs one of these features. */
export type Features = readonly `solana:${string}`[];

export class WalletError extends Error {
  readonly refusal: WalletRefusal;
  constructor(refusal: WalletRefusal, detail = '') {
    super(detail);
    this.refusal = refusal;
  }
}

export const chainOf = ({ network }: WalletTerms) => `solana:${network}` as const;

const isSolana = ({ chains, features }: Wallet, wanted: Features): boolean =>
  chains.some((chain) => chain.startsWith('solana:')) && CONNECT in features && wanted.some((feature) => feature in features);

const iconOf = ({ icon }: Wallet): string | null => (/^data:image\/(?:svg\+xml|png|webp|gif);base64,/.test(icon) ? icon : null);

/** Display name. Wallets with the same display name are treated as one. */
const nameOf = ({ name }: Wallet): string => plain(name).slice(0, 60);

/** Lists usable wallets. A test payment lists the test wallet only, because no other wallet has its chain. */
export function listWallets(terms: WalletTerms, wanted: Features): WalletChoice[] {
  const { ownWallet } = terms;
  const isOwn = ({ name }: Wallet) => ownWallet !== null && name === OWN_WALLET_NAMES[ownWallet.kind];
  const seen = new Set<string>();
  return getWallets()
    .get()
    .filter((wallet) => isSolana(wallet, wanted) && (!isTest(terms) || isOwn(wallet)))
    .filter((wallet) => !seen.has(nameOf(wallet)) && seen.add(nameOf(wallet)))
    .map((wallet) => ({
      name: nameOf(wallet),
      icon: iconOf(wallet),
      isUsable: wallet.chains.includes(chainOf(terms)),
      isOwn: isOwn(wallet),
    }));
}

export function onWalletsChange(listener: () => void): void {
  getWallets().on('register', listener);
  getWallets().on('unregister', listener);
}

export interface OpenWallet {
  wallet: Wallet;
  account: WalletAccount;
}

/**
 * Connects a wallet. `signer`: the account to open, if the wallet shares it, otherwise its first account. Throws WalletError `network` or
 * `no_account` if no account fits.
 */
export async function openWallet(terms: WalletTerms, wanted: Features, name: string, signer?: string): Promise<OpenWallet> {
  const wallet = getWallets()
    .get()
    .find((one) => isSolana(one, wanted) && nameOf(one) === name);
  if (!wallet) throw new WalletError('failed', 'gone');
  if (!wallet.chains.includes(chainOf(terms))) throw new WalletError('network');
  const accounts = await callWallet('failed', async () => {
    const feature = wallet.features[CONNECT] as { connect(): Promise<{ accounts: readonly WalletAccount[] }> };
    return [...(await feature.connect()).accounts];
  });
  if (accounts.length === 0) throw new WalletError('no_account');
  const usable = accounts.filter(({ chains }) => chains.includes(chainOf(terms)));
  const account = usable.find(({ address }) => address === signer) ?? usable[0];
  if (!account) throw new WalletError('network');
  return { wallet, account };
}

/**
 * Texts of a refusal by the person, and of nothing else: a closed message port or an aborted transaction may follow a payment that was
 * sent.
 */
const REFUSALS = [
  /\buser[ _]?(?:has )?(?:reject|declin|deni|cancel)/i,
  /\b(?:reject|declin|deni|cancel)\w* by (?:the )?user\b/i,
  /^\W*(?:(?:request|approval|transaction|signing) )?(?:was )?(?:rejected|declined|denied|cancell?ed)\W*$/i,
];

/** Calls a wallet and turns whatever it throws into a WalletError. Code 4001: user rejected the request (EIP-1193). */
export async function callWallet<T>(otherwise: WalletRefusal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message, name } = (error ?? {}) as { code?: unknown; message?: unknown; name?: unknown };
    const isRefusal = code === 4001 || [name, message].some((text) => REFUSALS.some((refusal) => refusal.test(String(text ?? ''))));
    throw new WalletError(isRefusal ? 'rejected' : otherwise, String(message ?? ''));
  }
}
