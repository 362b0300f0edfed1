import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

/** New payout wallet. No preference switches it off: a thief of the account would. */
export const payoutChangedLetter: Letter<LetterFacts['payout_changed']> = {
  pref: null,
  to: 'anyone',
  path: () => '/login',
  values: ({ wallet, previous, paid_for, at }, locale) => ({
    wallet: wallet ?? '—',
    previous: previous ?? '—',
    paidFor: plainName(paid_for),
    at: formatInstant(locale, at, 'UTC'),
  }),
  words: {
    en: {
      subject: 'A payout wallet was set',
      lines: [
        'On {at} a payout wallet was set for: {paidFor}',
        'Sales of it are paid to this wallet from now on: {wallet}',
        'Wallet before: {previous}',
        'If it was not you, sign in and set your own wallet now.',
      ],
      button: 'Sign in',
    },
    es: {
      subject: 'Se ha establecido una billetera de cobro',
      lines: [
        'El {at} se estableció una billetera de cobro para: {paidFor}',
        'Desde ahora sus ventas se pagan a esta billetera: {wallet}',
        'Billetera anterior: {previous}',
        'Si no ha sido usted, inicie sesión y ponga ahora su propia billetera.',
      ],
      button: 'Iniciar sesión',
    },
    de: {
      subject: 'Eine Auszahlungs-Wallet wurde festgelegt',
      lines: [
        'Am {at} wurde eine Auszahlungs-Wallet festgelegt für: {paidFor}',
        'Verkäufe davon gehen ab jetzt an diese Wallet: {wallet}',
        'Wallet davor: {previous}',
        'Wenn Sie das nicht waren, melden Sie sich an und hinterlegen Sie jetzt Ihre eigene Wallet.',
      ],
      button: 'Anmelden',
    },
    fr: {
      subject: 'Un portefeuille de versement a été défini',
      lines: [
        'Le {at}, un portefeuille de versement a été défini pour : {paidFor}',
        'Ses ventes sont désormais versées sur ce portefeuille : {wallet}',
        'Portefeuille précédent : {previous}',
        'Si ce n’était pas vous, connectez-vous et indiquez tout de suite votre propre portefeuille.',
      ],
      button: 'Se connecter',
    },
    'pt-BR': {
      subject: 'Uma carteira de recebimento foi definida',
      lines: [
        'Em {at} foi definida uma carteira de recebimento para: {paidFor}',
        'A partir de agora, as vendas são pagas nesta carteira: {wallet}',
        'Carteira anterior: {previous}',
        'Se não foi você, entre e defina sua própria carteira agora.',
      ],
      button: 'Entrar',
    },
    ja: {
      subject: '受取ウォレットが設定されました',
      lines: [
        '{at}に受取ウォレットが設定されました。対象: {paidFor}',
        '今後の売上はこのウォレットに支払われます: {wallet}',
        '以前のウォレット: {previous}',
        'お心当たりがない場合は、サインインしてご自身のウォレットを今すぐ設定してください。',
      ],
      button: 'サインイン',
    },
  },
};
