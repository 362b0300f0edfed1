import type { SolanaSignAndSendTransactionFeature, SolanaSignTransactionFeature } from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { plain } from '../../parts/text.ts';
import type { PageFacts, WalletChoice } from '../facts.ts';
import type { WalletRefusal } from '../machine/events.ts';
import { fromBase64, signatureOf, toBase58, toBase64 } from './bytes.ts';

/** The wallets of this browser, by the Wallet Standard. */
const SIGN = 'solana:signTransaction';
const SIGN_AND_SEND = 'solana:signAndSendTransaction';
const CONNECT = 'standard:connect';
export const DEMO_WALLET_NAME = 'Demo wallet';

export class WalletError extends Error {
  readonly refusal: WalletRefusal;
  constructor(refusal: WalletRefusal, story = '') {
    super(story);
    this.refusal = refusal;
  }
}

export const chainOf = ({ network }: PageFacts) => `solana:${network}` as const;

const isSolana = ({ chains, features }: Wallet): boolean =>
  chains.some((chain) => chain.startsWith('solana:')) && CONNECT in features && (SIGN in features || SIGN_AND_SEND in features);

const iconOf = ({ icon }: Wallet): string | null => (/^data:image\/(?:svg\+xml|png|webp|gif);base64,/.test(icon) ? icon : null);

/** What the page calls a wallet; two that read the same are one. */
const nameOf = ({ name }: Wallet): string => plain(name).slice(0, 60);

export function listWallets(facts: PageFacts): WalletChoice[] {
  const seen = new Set<string>();
  return getWallets()
    .get()
    .filter((wallet) => isSolana(wallet) && !seen.has(nameOf(wallet)) && seen.add(nameOf(wallet)))
    .map((wallet) => ({
      name: nameOf(wallet),
      icon: iconOf(wallet),
      isUsable: wallet.chains.includes(chainOf(facts)),
      isDemo: facts.demoRpcUrl !== null && wallet.name === DEMO_WALLET_NAME,
    }));
}

export function onWalletsChange(listener: () => void): void {
  getWallets().on('register', listener);
  getWallets().on('unregister', listener);
}

const findWallet = (name: string): Wallet | undefined =>
  getWallets()
    .get()
    .find((wallet) => isSolana(wallet) && nameOf(wallet) === name);

/** A wallet and the account that will pay, with the buyer's consent. */
export interface OpenWallet {
  wallet: Wallet;
  account: WalletAccount;
}

export async function openWallet(facts: PageFacts, name: string): Promise<OpenWallet> {
  const wallet = findWallet(name);
  if (!wallet) throw new WalletError('failed', 'gone');
  if (!wallet.chains.includes(chainOf(facts))) throw new WalletError('network');
  const accounts = await callWallet('failed', async () => {
    const feature = wallet.features[CONNECT] as { connect(): Promise<{ accounts: readonly WalletAccount[] }> };
    return [...(await feature.connect()).accounts];
  });
  if (accounts.length === 0) throw new WalletError('no_account');
  const account = accounts.find(({ chains }) => chains.includes(chainOf(facts)));
  if (!account) throw new WalletError('network');
  return { wallet, account };
}

/** Signed and ours to send, or already sent by a wallet that insists. */
export type Signed = { signedTransaction: string; txSignature: string } | { signedTransaction: null; txSignature: string };

/** Whether the wallet sends what it signs: then it alone knows what became of it. */
export const isSender = ({ wallet, account }: OpenWallet): boolean =>
  !(SIGN in wallet.features && (account.features as readonly string[]).includes(SIGN));

export function signWith(open: OpenWallet, facts: PageFacts, transaction: string): Promise<Signed> {
  const { wallet, account } = open;
  const input = () => ({ account, chain: chainOf(facts), transaction: fromBase64(transaction) });
  if (!isSender(open)) {
    return callWallet('failed', async () => {
      const feature = (wallet.features as unknown as SolanaSignTransactionFeature)[SIGN];
      const [output] = await feature.signTransaction(input());
      const txSignature = signatureOf(output!.signedTransaction);
      if (txSignature === null) throw new Error('nothing signed');
      return { signedTransaction: toBase64(output!.signedTransaction), txSignature };
    });
  }
  if (!(SIGN_AND_SEND in wallet.features)) throw new WalletError('failed', 'cannot sign');
  return callWallet('unclear', async () => {
    const feature = (wallet.features as unknown as SolanaSignAndSendTransactionFeature)[SIGN_AND_SEND];
    const [output] = await feature.signAndSendTransaction(input());
    return { signedTransaction: null, txSignature: toBase58(output!.signature) };
  });
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
async function callWallet<T>(otherwise: WalletRefusal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message, name } = (error ?? {}) as { code?: unknown; message?: unknown; name?: unknown };
    const isRefusal = code === 4001 || [name, message].some((words) => REFUSALS.some((refusal) => refusal.test(String(words ?? ''))));
    throw new WalletError(isRefusal ? 'rejected' : otherwise, String(message ?? ''));
  }
}
