import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { registerWallet } from '@wallet-standard/wallet';
import type { WalletTerms } from '../../parts/wallet-choice.ts';

/** A wallet that the page brings along: found by the Wallet Standard as any other, so that the page knows no other way to pay. */
interface OwnWalletPlan<F extends 'solana:signTransaction' | 'solana:signAndSendTransaction'> {
  name: string;
  icon: string;
  feature: F;
  connect(): Promise<Pick<WalletAccount, 'address' | 'publicKey'>>;
  /** Throws what a wallet would. */
  act(transaction: Uint8Array): Promise<F extends 'solana:signTransaction' ? { signedTransaction: Uint8Array } : { signature: Uint8Array }>;
  /** The signature of a text, by which a person signs in; absent where the wallet is there to pay alone. */
  signText?(text: Uint8Array): Uint8Array;
}

/** The simulated chain and the local one both present themselves as devnet. */
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

/** What the server told the page. */
export function readFacts<Facts extends WalletTerms>(): Facts | null {
  const text = document.getElementById('facts')?.textContent;
  return text ? (JSON.parse(text) as Facts) : null;
}

/** What this browser keeps under a name: made once, so that the wallet is the same one over refreshes. */
export function keptIn(key: string, make: () => string): string {
  const kept = localStorage.getItem(key) ?? make();
  localStorage.setItem(key, kept);
  return kept;
}
