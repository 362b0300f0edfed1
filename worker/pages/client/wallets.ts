import type { SolanaSignAndSendTransactionFeature, SolanaSignTransactionFeature } from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import type { PageFacts, WalletChoice } from '../view/model.ts';
import { plain } from '../view/text.ts';
import { fromBase64, toBase58, toBase64 } from './bytes.ts';

/** The wallets of this browser, by the Wallet Standard. */
const SIGN = 'solana:signTransaction';
const SIGN_AND_SEND = 'solana:signAndSendTransaction';
const CONNECT = 'standard:connect';
export const DEMO_WALLET_NAME = 'Demo wallet';

/** Why a wallet did not do it, as far as a person can do something about it. */
export type WalletRefusal = 'rejected' | 'network' | 'no_account' | 'failed';
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

export function listWallets(facts: PageFacts): WalletChoice[] {
  const seen = new Set<string>();
  return getWallets()
    .get()
    .filter((wallet) => isSolana(wallet) && !seen.has(wallet.name) && seen.add(wallet.name))
    .map((wallet) => ({
      name: plain(wallet.name).slice(0, 60),
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
    .find((wallet) => isSolana(wallet) && plain(wallet.name).slice(0, 60) === name);

/** A wallet and the account that will pay, with the buyer's consent. */
export interface OpenWallet {
  wallet: Wallet;
  account: WalletAccount;
}

export async function openWallet(facts: PageFacts, name: string): Promise<OpenWallet> {
  const wallet = findWallet(name);
  if (!wallet) throw new WalletError('failed', 'gone');
  if (!wallet.chains.includes(chainOf(facts))) throw new WalletError('network');
  const { connect } = wallet.features[CONNECT] as { connect(): Promise<{ accounts: readonly WalletAccount[] }> };
  const { accounts } = await connect().catch(asRefusal);
  if (accounts.length === 0) throw new WalletError('no_account');
  const account = accounts.find(({ chains }) => chains.includes(chainOf(facts)));
  if (!account) throw new WalletError('network');
  return { wallet, account };
}

/** Signed and ours to send, or already sent by a wallet that insists. */
export type Signed = { signedTransaction: string } | { txSignature: string };

export async function signWith({ wallet, account }: OpenWallet, facts: PageFacts, transaction: string): Promise<Signed> {
  const input = { account, chain: chainOf(facts), transaction: fromBase64(transaction) };
  const canSign = SIGN in wallet.features && (account.features as readonly string[]).includes(SIGN);
  if (canSign) {
    const { signTransaction } = (wallet.features as unknown as SolanaSignTransactionFeature)[SIGN];
    const [output] = await signTransaction(input).catch(asRefusal);
    if (!output) throw new WalletError('failed', 'nothing signed');
    return { signedTransaction: toBase64(output.signedTransaction) };
  }
  if (!(SIGN_AND_SEND in wallet.features)) throw new WalletError('failed', 'cannot sign');
  const { signAndSendTransaction } = (wallet.features as unknown as SolanaSignAndSendTransactionFeature)[SIGN_AND_SEND];
  const [output] = await signAndSendTransaction(input).catch(asRefusal);
  if (!output) throw new WalletError('failed', 'nothing sent');
  return { txSignature: toBase58(output.signature) };
}

/** 4001 is what wallets took over from Ethereum; the words are what the rest of them say. */
function asRefusal(error: unknown): never {
  const { code, message = '', name = '' } = (error ?? {}) as { code?: unknown; message?: string; name?: string };
  const isRejection = code === 4001 || /reject|declin|denied|cancel|clos|abort/i.test(`${name} ${message}`);
  throw new WalletError(isRejection ? 'rejected' : 'failed', message);
}
