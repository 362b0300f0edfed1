import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';

/** Completes the forms of passkeys: runs the ceremony, writes its answer into the form and sends it. */
for (const frame of document.querySelectorAll<HTMLElement>('.ceremony')) {
  const form = frame.querySelector('form');
  const problem = frame.querySelector<HTMLElement>('[role=alert]');
  const response = form?.elements.namedItem('response');
  const button = form?.querySelector('button');
  if (!form || !problem || !button || !(response instanceof HTMLInputElement)) continue;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    problem.hidden = true;
    void ask(frame).then(
      (answer) => {
        response.value = JSON.stringify(answer);
        form.submit();
      },
      () => {
        problem.textContent = 'The passkey was not used. Nothing was changed. Try again.';
        problem.hidden = false;
      },
    );
  });
  button.disabled = false;
}

async function ask({ dataset }: HTMLElement): Promise<unknown> {
  const optionsJSON: unknown = JSON.parse(dataset.options ?? '{}');
  return dataset.kind === 'create'
    ? startRegistration({ optionsJSON: optionsJSON as PublicKeyCredentialCreationOptionsJSON })
    : startAuthentication({ optionsJSON: optionsJSON as PublicKeyCredentialRequestOptionsJSON });
}
