export interface WalletChoice {
  name: string;
  icon: string | null;
  isUsable: boolean;
  /** True for the wallet that the page registers itself. */
  isOwn: boolean;
}

/** Reason of a refusal. `unclear`: the wallet may have paid all the same. */
export type WalletRefusal = 'rejected' | 'network' | 'no_account' | 'failed' | 'unclear';

export interface WalletTerms {
  network: 'mainnet' | 'devnet';
  /** Wallet that the page registers itself. Null if there is none. */
  ownWallet: OwnWallet | null;
}

/**
 * `test`: for sandbox products, which no other wallet can pay. `demo`: local development, in addition to the browser's wallets, funded by
 * this node.
 */
export type OwnWallet = { kind: 'test' } | { kind: 'demo'; rpcUrl: string };

export const isTest = ({ ownWallet }: WalletTerms): boolean => ownWallet?.kind === 'test';
