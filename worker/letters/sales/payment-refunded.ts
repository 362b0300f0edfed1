import { formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const paymentRefundedLetter: Letter<LetterFacts['payment_refunded']> = {
  pref: 'payouts',
  to: 'owner',
  path: () => '/docs#refunded',
  values: ({ amount, payment_id }, locale) => ({ amount: formatMoney(locale, amount), payment: plainName(payment_id) }),
  words: {
    en: {
      subject: 'A refund of {amount} was sent',
      lines: ['The network shows that {amount} went back to the buyer of payment {payment}.', 'If it was not you, secure your wallet now.'],
      button: 'What to do',
    },
    es: {
      subject: 'Se ha enviado un reembolso de {amount}',
      lines: [
        'La red muestra que se devolvieron {amount} al comprador del pago {payment}.',
        'Si no ha sido usted, proteja su billetera ahora mismo.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Eine Erstattung von {amount} wurde gesendet',
      lines: [
        'Das Netzwerk zeigt, dass {amount} an den Käufer der Zahlung {payment} zurückgingen.',
        'Wenn Sie das nicht waren, sichern Sie jetzt Ihre Wallet.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Un remboursement de {amount} a été envoyé',
      lines: [
        'Le réseau montre que {amount} ont été rendus à l’acheteur du paiement {payment}.',
        'Si ce n’était pas vous, sécurisez tout de suite votre portefeuille.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Um reembolso de {amount} foi enviado',
      lines: ['A rede mostra que {amount} voltaram ao comprador do pagamento {payment}.', 'Se não foi você, proteja sua carteira agora.'],
      button: 'O que fazer',
    },
    ja: {
      subject: '{amount}の返金が送られました',
      lines: [
        '支払い{payment}の購入者に{amount}が返されたことをネットワークで確認しました。',
        'お心当たりがない場合は、今すぐウォレットを保護してください。',
      ],
      button: '対処方法を見る',
    },
  },
};
