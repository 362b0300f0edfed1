import type { Letter } from '../letter.ts';

export const verifyEmailLetter: Letter<Record<never, never>> = {
  pref: null,
  to: 'anyone',
  token: 'verify',
  path: (_facts, token) => `/verify-email#token=${token}`,
  words: {
    en: {
      subject: 'Confirm your e-mail address',
      lines: ['Please confirm that this address is yours. The link works once, for 24 hours.', 'If you did not ask for this, do nothing.'],
      button: 'Confirm address',
    },
    es: {
      subject: 'Confirme su dirección de correo',
      lines: ['Confirme que esta dirección es suya. El enlace funciona una vez, durante 24 horas.', 'Si no lo ha pedido, no haga nada.'],
      button: 'Confirmar dirección',
    },
    de: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      lines: [
        'Bitte bestätigen Sie, dass diese Adresse Ihnen gehört. Der Link gilt einmal, 24 Stunden lang.',
        'Wenn Sie das nicht angefordert haben, müssen Sie nichts tun.',
      ],
      button: 'Adresse bestätigen',
    },
    fr: {
      subject: 'Confirmez votre adresse e-mail',
      lines: [
        'Confirmez que cette adresse est la vôtre. Le lien fonctionne une fois, pendant 24 heures.',
        'Si vous n’avez rien demandé, ne faites rien.',
      ],
      button: 'Confirmer l’adresse',
    },
    'pt-BR': {
      subject: 'Confirme seu endereço de e-mail',
      lines: ['Confirme que este endereço é seu. O link funciona uma vez, por 24 horas.', 'Se você não pediu isso, não faça nada.'],
      button: 'Confirmar endereço',
    },
    ja: {
      subject: 'メールアドレスの確認',
      lines: [
        'このメールアドレスがご本人のものであることをご確認ください。リンクは24時間以内に1回だけ使えます。',
        'お心当たりがない場合は、何もする必要はありません。',
      ],
      button: 'アドレスを確認する',
    },
  },
};
