import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { plain } from '../parts/text.ts';
import { isTest, type WalletChoice, type WalletRefusal, type WalletTerms } from '../parts/wallet-choice.ts';

/** The wallets of this browser, by the Wallet Standard. */
const CONNECT = 'standard:connect';
/** What the wallets that a page brings along are called. */
export const OWN_WALLET_NAMES = { demo: 'Demo wallet', test: 'Test wallet' } as const;

/** What a page needs of a wallet: one of these features. */
export type Features = readonly `solana:${string}`[];

export class WalletError extends Error {
  readonly refusal: WalletRefusal;
  constructor(refusal: WalletRefusal, story = '') {
    super(story);
    this.refusal = refusal;
  }
}

export const chainOf = ({ network }: WalletTerms) => `solana:${network}` as const;

const isSolana = ({ chains, features }: Wallet, wanted: Features): boolean =>
  chains.some((chain) => chain.startsWith('solana:')) && CONNECT in features && wanted.some((feature) => feature in features);

const iconOf = ({ icon }: Wallet): string | null => (/^data:image\/(?:svg\+xml|png|webp|gif);base64,/.test(icon) ? icon : null);

/** What the page calls a wallet; two that read the same are one. */
const nameOf = ({ name }: Wallet): string => plain(name).slice(0, 60);

/** A test is paid by the test wallet alone: no other knows the chain it is paid on. */
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

/** A wallet and an account of it on the network of this service, with the person's consent. */
export interface OpenWallet {
  wallet: Wallet;
  account: WalletAccount;
}

/** `signer`: the account that is opened if the wallet shares it. Otherwise the first one is, as the wallet orders them. */
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
 * Words for a refusal by a person and nothing else: a message port that was closed, or a transaction that was aborted, may come
 * after the money has moved.
 */
const REFUSALS = [
  /\buser[ _]?(?:has )?(?:reject|declin|deni|cancel)/i,
  /\b(?:reject|declin|deni|cancel)\w* by (?:the )?user\b/i,
  /^\W*(?:(?:request|approval|transaction|signing) )?(?:was )?(?:rejected|declined|denied|cancell?ed)\W*$/i,
];

/** What a wallet answers. Anything it throws becomes a WalletError. 4001 is what wallets took over from Ethereum. */
export async function callWallet<T>(otherwise: WalletRefusal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message, name } = (error ?? {}) as { code?: unknown; message?: unknown; name?: unknown };
    const isRefusal = code === 4001 || [name, message].some((words) => REFUSALS.some((refusal) => refusal.test(String(words ?? ''))));
    throw new WalletError(isRefusal ? 'rejected' : otherwise, String(message ?? ''));
  }
}
