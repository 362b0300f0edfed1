import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

/** Names the account, so that the reader does not confirm their address for one that another person made with it. */
export const verifyEmailLetter: Letter<LetterFacts['verify_email']> = {
  pref: null,
  to: 'anyone',
  token: 'verify',
  path: (_facts, token) => `/verify-email#token=${token}`,
  values: ({ account, created_at }, locale) => ({ account: plainName(account), created: formatInstant(locale, created_at, 'UTC') }),
  words: {
    en: {
      subject: 'Confirm your e-mail address',
      lines: [
        'An account here has your address. Its name: {account}. Created: {created}.',
        'If you made this account, please confirm the address. The link works once, for 24 hours.',
        'If you did not, do not confirm it: open the link and choose “This was not me”. The address is then taken off that account.',
      ],
      button: 'Open the link',
    },
    es: {
      subject: 'Confirme su dirección de correo',
      lines: [
        'Una cuenta de este servicio tiene su dirección. Nombre: {account}. Creada: {created}.',
        'Si la creó usted, confirme la dirección. El enlace funciona una vez, durante 24 horas.',
        'Si no, no la confirme: abra el enlace y elija «No he sido yo». La dirección se quita entonces de esa cuenta.',
      ],
      button: 'Abrir el enlace',
    },
    de: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      lines: [
        'Ein Konto hier hat Ihre Adresse. Name: {account}. Erstellt: {created}.',
        'Wenn Sie dieses Konto erstellt haben, bestätigen Sie bitte die Adresse. Der Link gilt einmal, 24 Stunden lang.',
        'Wenn nicht, bestätigen Sie sie nicht: Öffnen Sie den Link und wählen Sie „Das war ich nicht“. Die Adresse wird dann von dem Konto entfernt.',
      ],
      button: 'Link öffnen',
    },
    fr: {
      subject: 'Confirmez votre adresse e-mail',
      lines: [
        'Un compte de ce service porte votre adresse. Nom : {account}. Créé : {created}.',
        'Si vous avez créé ce compte, confirmez l’adresse. Le lien fonctionne une fois, pendant 24 heures.',
        'Sinon, ne la confirmez pas : ouvrez le lien et choisissez « Ce n’était pas moi ». L’adresse est alors retirée de ce compte.',
      ],
      button: 'Ouvrir le lien',
    },
    'pt-BR': {
      subject: 'Confirme seu endereço de e-mail',
      lines: [
        'Uma conta deste serviço tem seu endereço. Nome: {account}. Criada: {created}.',
        'Se você criou essa conta, confirme o endereço. O link funciona uma vez, por 24 horas.',
        'Se não criou, não confirme: abra o link e escolha “Não fui eu”. O endereço é então retirado dessa conta.',
      ],
      button: 'Abrir o link',
    },
    ja: {
      subject: 'メールアドレスの確認',
      lines: [
        'このサービスのアカウントにお客様のメールアドレスが登録されています。名前: {account}。作成日時: {created}。',
        'ご自身で作成したアカウントであれば、アドレスを確認してください。リンクは24時間以内に1回だけ使えます。',
        'お心当たりがない場合は確認しないでください。リンクを開いて「私ではありません」を選ぶと、アドレスはそのアカウントから外されます。',
      ],
      button: 'リンクを開く',
    },
  },
};
