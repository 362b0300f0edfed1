/**
 * Rules for merchant URLs that the service calls: public https hosts only. Checked when an endpoint is saved and on every attempt, because
 * the rules and our own hosts may change.
 * @module
 */

import { err, ok, type Result } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';

type TargetProblem = 'not_a_url' | 'https_required' | 'credentials' | 'port' | 'ip_address' | 'private_name' | 'own_host';

const PORTS = ['', '443', '8443'];
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'home.arpa',
  'test',
  'invalid',
  'example',
  'onion',
];

export interface TargetRules {
  /** The service's own hosts, because a webhook to itself could loop. */
  ownHosts: readonly string[];
  /** Local development only: plain http to this machine. */
  allowLoopback: boolean;
  /** The merchant's own shop may use any port, and on this machine the name `localhost`. */
  isShop?: true;
}

export const targetRules = ({ config, baseUrl }: Pick<Ctx, 'config' | 'baseUrl'>): TargetRules => ({
  ownHosts: [...(URL.canParse(baseUrl) ? [new URL(baseUrl).hostname] : []), ...config.OWN_HOSTS],
  allowLoopback: config.ALLOW_INSECURE_WEBHOOKS === 'true',
});

export function checkTarget(text: string, rules: TargetRules): Result<URL, TargetProblem> {
  if (text.length > 2048 || !URL.canParse(text)) return err('not_a_url');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return err('credentials');
  const isLoopback = url.hostname === '127.0.0.1' || (rules.isShop === true && url.hostname === 'localhost');
  if (rules.allowLoopback && url.protocol === 'http:' && isLoopback) return ok(url);
  if (url.protocol !== 'https:') return err('https_required');
  if (!rules.isShop && !PORTS.includes(url.port)) return err('port');
  // The URL parser has already normalized decimal, octal, hex and short IPv4 forms, and put IPv6 in brackets.
  const host = url.hostname.toLowerCase().replace(/\.+$/, '');
  if (/^\[|^[0-9.]+$/.test(host)) return err('ip_address');
  const isUnder = (suffix: string) => host === suffix || host.endsWith(`.${suffix}`);
  if (!host.includes('.') || PRIVATE_SUFFIXES.some(isUnder)) return err('private_name');
  return rules.ownHosts.some(isUnder) ? err('own_host') : ok(url);
}
