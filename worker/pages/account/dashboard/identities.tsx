import { plain } from '../../parts/text.ts';
import { loginPathOf } from '../facts.ts';
import { FreshProblem } from '../parts.tsx';
import { titleOf } from '../provider-return.ts';
import type { OpenDashboard } from './machine.ts';
import type { DashboardProps } from './props.ts';

/** Who else signs this person in, and who could. Absent where there is neither. */
export function Identities({ facts, say, state, actions }: DashboardProps<OpenDashboard>) {
  const { identities, linking } = state;
  const others = facts.providers.filter(({ name }) => !identities.some(({ provider }) => provider === name));
  if (identities.length === 0 && others.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="identities">
      <h2 id="identities">{say('identities')}</h2>
      <FreshProblem problem={linking.problem} say={say} again={loginPathOf(facts, { next: facts.dashboardPath, why: 'again' })} />
      {linking.linked !== null && (
        <p class="recognised" role="status">
          {say('oLinked', { provider: titleOf(facts.providers, linking.linked) })}
        </p>
      )}
      <ul class="rows" hidden={identities.length === 0}>
        {identities.map(({ provider, email }) => {
          const title = titleOf(facts.providers, provider);
          return (
            <li key={provider}>
              <span>
                {title}
                {email !== null && (
                  <small class="quiet">
                    <bdi>{plain(email)}</bdi>
                  </small>
                )}
              </span>
              <button type="button" class="link-button" disabled={linking.isBusy} onClick={() => actions?.unlink(provider)}>
                {say('unlinkProvider', { provider: title })}
              </button>
            </li>
          );
        })}
      </ul>
      {others.map(({ name, title }) => (
        <button key={name} type="button" class="plain-button" disabled={linking.isBusy} onClick={() => actions?.link(name)}>
          {say('linkProvider', { provider: title })}
        </button>
      ))}
    </section>
  );
}
