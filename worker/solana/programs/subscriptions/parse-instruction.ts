import { type Address, getAddressDecoder } from '@solana/kit';
import { err, ok, type Result } from '#core/errors.ts';
import { type InstructionLayout, nameAccounts, type RawInstruction } from '../instruction-layout.ts';
import {
  CANCEL,
  CLOSE_AUTHORITY,
  COLLECT,
  CREATE_PLAN,
  DELETE_PLAN,
  INIT_AUTHORITY,
  RESUME,
  REVOKE,
  REVOKE_AUTHORITY,
  SUBSCRIBE,
  UPDATE_PLAN,
} from './layouts.ts';
import { decodeMetadata, LISTED_MAX, METADATA_BYTES_MAX, type SubscriptionPlan, withoutEmpty } from './subscription.ts';

type Accounts<Layout> = Layout extends InstructionLayout<infer Name> ? Record<Name, Address> : never;

export type SubscriptionInstruction =
  | { name: 'initAuthority'; accounts: Accounts<typeof INIT_AUTHORITY>; payer: Address | null }
  | { name: 'revoke'; accounts: Accounts<typeof REVOKE>; payer: Address | null }
  | { name: 'closeAuthority'; accounts: Accounts<typeof CLOSE_AUTHORITY>; payer: Address | null }
  | { name: 'createPlan'; accounts: Accounts<typeof CREATE_PLAN>; plan: Omit<SubscriptionPlan, 'owner' | 'bump' | 'status' | 'createdAt'> }
  | { name: 'updatePlan'; accounts: Accounts<typeof UPDATE_PLAN>; status: number; endTs: bigint; pullers: Address[]; metadataUri: string }
  | { name: 'deletePlan'; accounts: Accounts<typeof DELETE_PLAN> }
  | { name: 'collect'; accounts: Accounts<typeof COLLECT>; amount: bigint; subscriber: Address; mint: Address }
  | { name: 'subscribe'; accounts: Accounts<typeof SUBSCRIBE>; consent: Consent; payer: Address | null }
  | { name: 'cancel'; accounts: Accounts<typeof CANCEL> }
  | { name: 'resume'; accounts: Accounts<typeof RESUME> }
  | { name: 'revokeAuthority'; accounts: Accounts<typeof REVOKE_AUTHORITY>; payer: Address | null };

interface Consent {
  planId: bigint;
  planBump: number;
  mint: Address;
  amount: bigint;
  periodHours: bigint;
  createdAt: bigint;
  initId: bigint;
}

export type SubscriptionInstructionProblem = 'unknown' | 'wrong_data' | 'wrong_accounts';

type Parsed = Result<SubscriptionInstruction, SubscriptionInstructionProblem>;

interface Shape<Name extends string> {
  layout: InstructionLayout<Name>;
  /** Bytes of the arguments. Null if the program ignores them. */
  argBytes: number | null;
  tail: 'none' | 'any';
  finish(named: Record<Name, Address>, args: Arguments, payer: Address | null): SubscriptionInstruction;
}

// Makes the compiler check account names against the layout, while all shapes share one list.
const shape = <Name extends string>(value: Shape<Name>): Shape<string> => value;

const SHAPES: readonly Shape<string>[] = [
  shape({
    layout: INIT_AUTHORITY,
    argBytes: null,
    tail: 'any',
    finish: (accounts, _, payer) => ({ name: 'initAuthority', accounts, payer }),
  }),
  shape({ layout: REVOKE, argBytes: null, tail: 'any', finish: (accounts, _, payer) => ({ name: 'revoke', accounts, payer }) }),
  shape({
    layout: CLOSE_AUTHORITY,
    argBytes: null,
    tail: 'any',
    finish: (accounts, _, payer) => ({ name: 'closeAuthority', accounts, payer }),
  }),
  shape({
    layout: CREATE_PLAN,
    argBytes: 456,
    tail: 'none',
    finish: (accounts, args) => {
      const plan = { planId: args.u64(), mint: args.address(), amount: args.u64(), periodHours: args.u64() };
      // The creation time is ignored: the program's clock decides.
      args.i64();
      const lists = { endTs: args.i64(), destinations: args.listed(), pullers: args.listed(), metadataUri: args.metadata() };
      return { name: 'createPlan', accounts, plan: { ...plan, ...lists } };
    },
  }),
  shape({
    layout: UPDATE_PLAN,
    argBytes: 265,
    tail: 'none',
    finish: (accounts, args) => {
      const change = { status: args.u8(), endTs: args.i64(), pullers: args.listed(), metadataUri: args.metadata() };
      return { name: 'updatePlan', accounts, ...change };
    },
  }),
  shape({ layout: DELETE_PLAN, argBytes: null, tail: 'none', finish: (accounts) => ({ name: 'deletePlan', accounts }) }),
  shape({
    layout: COLLECT,
    argBytes: 72,
    tail: 'any',
    finish: (accounts, args) => ({ name: 'collect', accounts, amount: args.u64(), subscriber: args.address(), mint: args.address() }),
  }),
  shape({
    layout: SUBSCRIBE,
    argBytes: 73,
    tail: 'any',
    finish: (accounts, args, payer) => {
      const plan = { planId: args.u64(), planBump: args.u8(), mint: args.address() };
      const terms = { amount: args.u64(), periodHours: args.u64(), createdAt: args.i64(), initId: args.i64() };
      return { name: 'subscribe', accounts, consent: { ...plan, ...terms }, payer };
    },
  }),
  shape({ layout: CANCEL, argBytes: null, tail: 'none', finish: (accounts) => ({ name: 'cancel', accounts }) }),
  shape({ layout: RESUME, argBytes: null, tail: 'none', finish: (accounts) => ({ name: 'resume', accounts }) }),
  shape({
    layout: REVOKE_AUTHORITY,
    argBytes: null,
    tail: 'any',
    finish: (accounts, _, payer) => ({ name: 'revokeAuthority', accounts, payer }),
  }),
];

/** Parses an instruction of the program, data first and accounts second, like the program. */
export function parseSubscriptionInstruction({ accounts, data }: RawInstruction): Parsed {
  const found = SHAPES.find(({ layout }) => layout.discriminator === data[0]);
  if (found === undefined) return err('unknown');
  const args = Uint8Array.from(data.slice(1));
  if (found.argBytes !== null && args.length !== found.argBytes) return err('wrong_data');
  const resolved = nameAccounts(found.layout, accounts);
  if (resolved === null || (found.tail === 'none' && resolved.rest.length > 0)) return err('wrong_accounts');
  return ok(found.finish(resolved.named, new Arguments(args), resolved.rest[0] ?? null));
}

class Arguments {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8 = (): number => this.#take(1).getUint8(0);
  u64 = (): bigint => this.#take(8).getBigUint64(0, true);
  i64 = (): bigint => this.#take(8).getBigInt64(0, true);

  address(): Address {
    const { byteOffset } = this.#take(32);
    return getAddressDecoder().decode(this.#bytes, byteOffset - this.#bytes.byteOffset);
  }

  listed = (): Address[] => withoutEmpty(Array.from({ length: LISTED_MAX }, () => this.address()));

  metadata(): string {
    const { buffer, byteOffset } = this.#take(METADATA_BYTES_MAX);
    return decodeMetadata(new Uint8Array(buffer, byteOffset, METADATA_BYTES_MAX));
  }

  #take(count: number): DataView {
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#offset, count);
    this.#offset += count;
    return view;
  }
}
