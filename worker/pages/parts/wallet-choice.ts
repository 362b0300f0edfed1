/** A wallet of this browser, as a page offers it. */
export interface WalletChoice {
  name: string;
  icon: string | null;
  /** False where it does not know the network of this service. */
  isUsable: boolean;
  /** The one that the page brings along. */
  isOwn: boolean;
}

/** Why a wallet did not do it, as far as a person can do something about it. `unclear`: it may have paid all the same. */
export type WalletRefusal = 'rejected' | 'network' | 'no_account' | 'failed' | 'unclear';

/** What a page has to know of its service to speak with wallets. */
export interface WalletTerms {
  network: 'mainnet' | 'devnet';
  /** The wallet that the page brings along; null: there are only those of the browser. */
  ownWallet: OwnWallet | null;
}

/**
 * `test`: of a sandbox product, which no other wallet can pay. `demo`: of local development, beside those of the browser; it takes its
 * play money from this node.
 */
export type OwnWallet = { kind: 'test' } | { kind: 'demo'; rpcUrl: string };

/** Whether the page sells a test product, for money of a simulated chain. */
export const isTest = ({ ownWallet }: WalletTerms): boolean => ownWallet?.kind === 'test';
