import { isUsedAs } from '#features/accounts/auth/sign-in.ts';
import { isIdentityUsed } from '#features/accounts/oauth/identities.ts';
import { isPasskeyUsed } from '#features/accounts/passkeys/passkey.ts';
import { isCustomerUsed } from '#features/billing/processor/store.ts';
import { isSlugUsed } from '#features/products/create-product.ts';
import type { IsUsed } from '#platform/db/names/names.ts';
import type { NameKind } from '#platform/db/tables/office/names.ts';

/** Reads from the database of an account whether it uses a name. */
export const NAME_USES: Record<NameKind, IsUsed> = {
  email: isUsedAs('emailKey'),
  wallet: isUsedAs('walletKey'),
  identity: isIdentityUsed,
  passkey: isPasskeyUsed,
  slug: isSlugUsed,
  customer: isCustomerUsed,
};
