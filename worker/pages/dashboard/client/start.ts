import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';

import { copyText } from '../../browser/copy-text.ts';
import { paletteOf } from '../../parts/colour.ts';

/** Shows the buttons that copy the text before them. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
  const text = button.previousElementSibling;
  button.addEventListener('click', () => {
    void copyText(text?.textContent ?? '', text).then((isCopied) => {
      button.textContent = isCopied ? 'Copied' : 'Copy the marked text';
    });
  });
  button.hidden = false;
}

/** Draws the brand as it is typed. */
for (const preview of document.querySelectorAll<HTMLElement>('.brand-preview')) {
  const form = preview.parentElement?.querySelector('form');
  const [logo, name, sample] = ['img', 'bdi', '.sample'].map((part) => preview.querySelector<HTMLElement>(part)) as [
    HTMLImageElement,
    HTMLElement,
    HTMLElement,
  ];
  const typed = (field: string): string => {
    const input = form?.elements.namedItem(`merchant_settings.${field}`);
    return input instanceof HTMLInputElement ? input.value.trim() : '';
  };
  const draw = () => {
    const { accent, onAccent } = paletteOf(typed('checkout_accent_hex'), 'light');
    sample.style.backgroundColor = accent;
    sample.style.color = onAccent;
    name.textContent = typed('checkout_brand_name') || (preview.dataset.name ?? '');
  };
  // Once the address is typed in full, so that no other site is asked meanwhile.
  const drawLogo = () => {
    const source = typed('checkout_logo_url');
    logo.hidden = !source.startsWith('https://');
    if (!logo.hidden && logo.src !== source) logo.src = source;
  };
  form?.addEventListener('input', draw);
  form?.addEventListener('change', drawLogo);
  draw();
  drawLogo();
  preview.hidden = false;
}

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
