import { describe, expect, it } from 'vitest';
import { hasRole, type Need, ROLE_GROUPS, ROLES, roleIn, rolesWith } from '#rules/access/roles.ts';
import { isPermitted, MATRIX_GROUPS, MATRIX_ROLES, permittedRoles } from '../support/fixtures/role-matrix.ts';

describe('roles', () => {
  it('the groups and roles are those of the contract', () => {
    expect([...ROLE_GROUPS].sort()).toEqual([...MATRIX_GROUPS].sort());
    expect(ROLES).toEqual(MATRIX_ROLES);
  });

  it.each(MATRIX_GROUPS)('each role has the access to %s that the contract gives it', (group) => {
    for (const access of ['read', 'write']) {
      const need = `${group}:${access}` as Need;
      for (const role of ROLES) expect(hasRole(role, need), `${role} ${need}`).toBe(isPermitted(role, need));
      expect(rolesWith(need)).toEqual(permittedRoles(need));
    }
  });

  it('the owner is the owner whatever the list of members says, and a stranger has no role', () => {
    const account = { ownerId: 'a', roles: { a: 'viewer', b: 'finance' } } as const;
    expect(['a', 'b', 'c'].map((id) => roleIn(account, id))).toEqual(['owner', 'finance', null]);
  });
});
