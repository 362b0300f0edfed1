/** Groups of operations. A key can be restricted to some of them. */
export const GROUPS = [
  'products',
  'payments',
  'refunds',
  'receipts',
  'customers',
  'consume',
  'payouts',
  'webhooks',
  'sandbox',
  'figures',
  'requests',
  'billing',
  'tickets',
  'settings',
  'keys',
  'log',
] as const;
export type Group = (typeof GROUPS)[number];
export type KeyScope = `${Group}:${'read' | 'write'}`;

const READ_ONLY: readonly Group[] = ['requests', 'keys', 'log'];

/** All scopes that a key may have. Write includes read. */
export const KEY_SCOPES: readonly KeyScope[] = GROUPS.flatMap((group): KeyScope[] =>
  READ_ONLY.includes(group) ? [`${group}:read`] : [`${group}:read`, `${group}:write`],
);

/** Scopes that a key without scopes lacks: not every role that makes keys has them. */
export const NAMED_SCOPES: readonly KeyScope[] = ['log:read'];

/** True if the scopes allow the operation. Null allows all but `NAMED_SCOPES`. */
export const hasScope = (scopes: readonly KeyScope[] | null, needed: string): boolean => {
  if (scopes === null) return !NAMED_SCOPES.includes(needed as KeyScope);
  return scopes.includes(needed as KeyScope) || (needed.endsWith(':read') && scopes.includes(needed.replace(/read$/, 'write') as KeyScope));
};

/** True if every operation that `next` allows is allowed by `before`. */
export const isWithinScopes = (next: readonly KeyScope[] | null, before: readonly KeyScope[] | null): boolean =>
  next === null ? before === null : next.every((scope) => hasScope(before, scope));
