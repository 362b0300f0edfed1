import { type Address, getAddressDecoder, getAddressEncoder, type ReadonlyUint8Array } from '@solana/kit';
import { isOnCurve, sha256 } from '#core/crypto.ts';
import { base58, utf8 } from '#core/encoding.ts';
import { Memory } from '#core/isolate/memory.ts';

export interface DerivedAddress {
  address: Address;
  bump: number;
}

type Seeds = readonly ReadonlyUint8Array[];

const MARKER = utf8('ProgramDerivedAddress');
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

export const addressSeed = (address: Address): ReadonlyUint8Array => getAddressEncoder().encode(address);

export function u64Seed(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

const derived = new Memory<string, DerivedAddress>(2_000);

/** Program-derived address with the highest valid bump. (Solana runtime, `find_program_address`) */
export function findDerivedAddress(program: Address, seeds: Seeds): DerivedAddress {
  const key = `${program} ${seeds.map((seed) => base58.encode(Uint8Array.from(seed))).join()}`;
  const found = derived.get(key) ?? searchAddress(program, seeds);
  derived.set(key, found);
  return found;
}

function searchAddress(program: Address, seeds: Seeds): DerivedAddress {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const address = deriveAddress(program, seeds, bump);
    if (address !== null) return { address, bump };
  }
  throw new Error('no bump takes these seeds off the curve');
}

/** Address for a given bump. Null if on the curve. (Solana runtime, `create_program_address`) */
export function deriveAddress(program: Address, seeds: Seeds, bump: number): Address | null {
  const parts = [...seeds, Uint8Array.of(bump), addressSeed(program), MARKER];
  const hash = sha256(Uint8Array.from(parts.flatMap((part) => [...part])));
  return isOnCurve(hash) ? null : getAddressDecoder().decode(hash);
}

export const associatedTokenAddress = (owner: Address, mint: Address, tokenProgram: Address): Address =>
  findDerivedAddress(ASSOCIATED_TOKEN_PROGRAM, [addressSeed(owner), addressSeed(tokenProgram), addressSeed(mint)]).address;

export const eventAuthorityOf = (program: Address): Address => findDerivedAddress(program, [utf8('event_authority')]).address;
