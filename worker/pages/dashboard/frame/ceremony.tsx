import type { Child } from 'hono/jsx';
import { ActForm } from './fields.tsx';
import type { Screen } from './screen.tsx';

/** Options of a passkey's ceremony, as the API answers them. */
export interface Ceremony {
  ceremony_id: string;
  options: object;
}

/** Reads the answer of the authenticator from a form. The API refuses anything that is not one. */
export function parseResponse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

interface CeremonyTerms {
  screen: Screen;
  act: string;
  ceremony: Ceremony;
  kind: 'create' | 'get';
  submit: string;
  children?: Child;
}

/** Form that the script of the page completes with the answer of the authenticator. */
export const CeremonyForm = ({ screen, act, ceremony, kind, submit, children }: CeremonyTerms) => (
  <div class="ceremony" data-kind={kind} data-options={JSON.stringify(ceremony.options)}>
    <ActForm screen={screen} act={act} submit={submit} isScripted>
      <input type="hidden" name="ceremony_id" value={ceremony.ceremony_id} />
      <input type="hidden" name="response" value="" />
      {children}
    </ActForm>
    <p class="problem" role="alert" hidden />
    <noscript>
      <p class="problem">A passkey needs JavaScript.</p>
    </noscript>
  </div>
);
