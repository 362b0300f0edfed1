import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { registerWallet } from '@wallet-standard/wallet';
import type { WalletTerms } from '../../parts/wallet-choice.ts';

/** Wallet that the page registers itself over the Wallet Standard, so that the page has one payment path for all wallets. */
interface OwnWalletPlan<F extends 'solana:signTransaction' | 'solana:signAndSendTransaction'> {
  name: string;
  icon: string;
  feature: F;
  connect(): Promise<Pick<WalletAccount, 'address' | 'publicKey'>>;
  act(transaction: Uint8Array): Promise<F extends 'solana:signTransaction' ? { signedTransaction: Uint8Array } : { signature: Uint8Array }>;
  signText?(text: Uint8Array): Uint8Array;
}

/** The simulated chain and the local chain both report devnet. */
const CHAINS = ['solana:devnet'] as const;

export function registerOwnWallet<F extends 'solana:signTransaction' | 'solana:signAndSendTransaction'>(plan: OwnWalletPlan<F>): void {
  const { name, icon, feature, signText } = plan;
  const signsTexts = signText ? (['solana:signMessage'] as const) : [];
  let accounts: readonly WalletAccount[] = [];
  const features = {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => {
        accounts = [{ ...(await plan.connect()), chains: CHAINS, features: [feature, ...signsTexts] }];
        return { accounts };
      },
    },
    'standard:events': { version: '1.0.0', on: () => () => {} },
    [feature]: {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      [feature.slice('solana:'.length)]: (...inputs: { transaction: Uint8Array }[]) =>
        Promise.all(inputs.map(({ transaction }) => plan.act(transaction))),
    },
    ...(signText && {
      'solana:signMessage': {
        version: '1.1.0',
        signMessage: async (...inputs: { message: Uint8Array }[]) =>
          inputs.map(({ message }) => ({ signedMessage: message, signature: signText(message) })),
      },
    }),
  };
  registerWallet({
    version: '1.0.0',
    name,
    icon: icon as Wallet['icon'],
    chains: CHAINS,
    features: features as unknown as Wallet['features'],
    get accounts() {
      return accounts;
    },
  });
}

export function readFacts<Facts extends WalletTerms>(): Facts | null {
  const text = document.getElementById('facts')?.textContent;
  return text ? (JSON.parse(text) as Facts) : null;
}

/** Loads a value of this browser, or makes and stores one, so that the wallet survives a refresh. */
export function loadOrStore(key: string, make: () => string): string {
  const value = localStorage.getItem(key) ?? make();
  localStorage.setItem(key, value);
  return value;
}
