# ruff: noqa: E501, RUF001 -- a table: a language a line, in its own letters
"""The words that pages say which stand in for others, by language.

`…_TITLES` are compared with the parts of titles and headings, each whole, since a page *about* such pages says more
than they do. `…_TELLS` are looked for in the text: they speak to the visitor of this page.
"""

from __future__ import annotations

from tocsin.spec.suspicion.folding import Phrases

CHALLENGE_TITLES = Phrases("""
en: just a moment | one moment please | attention required | ddos protection by | checking your browser | security check | security checkpoint | vercel security checkpoint | security verification | human verification | bot verification | robot check | are you a robot | are you human | i m not a robot | verify you are human | verifying you are human | making sure you re not a bot | please verify you are a human | performing security verification | captcha challenge | captcha verification | please wait | unusual traffic | let s confirm you are human | confirm you are human | before we continue | pardon our interruption | checking if the site connection is secure | please complete the security check | access to this page has been denied | ddos guard | client challenge | human challenge | checking your browser before accessing | please enable javascript | enable javascript | enable javascript to continue | javascript required | javascript is required | javascript is disabled | please enable cookies | enable cookies | cookies required | please enable js | please turn javascript on | verifying your browser | browser check | bot check | please wait while we check your browser | please wait while we verify your browser | please wait while your request is being verified | prove you are human | prove that you are human
de: einen moment | einen moment bitte | nur einen moment | sicherheitsüberprüfung | sicherheitsprüfung | sind sie ein roboter | sind sie ein mensch | bestätigen sie dass sie ein mensch sind | ich bin kein roboter | bitte warten | überprüfung ihres browsers | browser überprüfung | ihr browser wird überprüft | wir überprüfen ihren browser
fr: un instant | un instant s il vous plaît | vérification de sécurité | êtes vous un robot | êtes vous humain | je ne suis pas un robot | vérifiez que vous êtes humain | veuillez patienter | vérification de votre navigateur | vérification du navigateur | nous vérifions votre navigateur
es: un momento | un momento por favor | verificación de seguridad | comprobación de seguridad | eres un robot | eres humano | no soy un robot | verifica que eres humano | verifique que es un ser humano | comprobando su navegador | verificando su navegador | verificando tu navegador
it: un momento | verifica di sicurezza | controllo di sicurezza | sei un robot | sei umano | non sono un robot | verifica di essere umano | verifica che sei umano | attendere prego | controllo del browser | verifica del browser | stiamo verificando il tuo browser
pt: um momento | só um momento | verificação de segurança | você é um robô | você é humano | não sou um robô | confirme que você é humano | confirme que é humano | aguarde | verificando seu navegador | verificando o seu navegador
nl: een ogenblik geduld | even geduld | even geduld alstublieft | beveiligingscontrole | bent u een robot | bent u een mens | ik ben geen robot | bevestig dat u een mens bent | browsercontrole | we controleren je browser | we controleren uw browser
pl: chwileczkę | jeszcze chwila | proszę czekać | weryfikacja bezpieczeństwa | czy jesteś robotem | nie jestem robotem | potwierdź że jesteś człowiekiem | kontrola bezpieczeństwa
ru: один момент | подождите | пожалуйста подождите | проверка безопасности | вы не робот | вы робот | я не робот | подтвердите что вы человек | подтвердите что вы не робот | проверка браузера | проверка
tr: bir dakika lütfen | lütfen bekleyin | güvenlik kontrolü | güvenlik doğrulaması | robot musunuz | robot değilim | ben robot değilim | insan olduğunuzu doğrulayın
ja: しばらくお待ちください | 少々お待ちください | セキュリティチェック | セキュリティ確認 | ロボットではありません | 私はロボットではありません | 人間であることを確認 | あなたが人間であることを確認
zh: 请稍候 | 请稍等 | 安全验证 | 安全检查 | 人机验证 | 我不是机器人 | 确认您是真人 | 請稍候 | 安全驗證 | 驗證您是人類 | 验证码
ko: 잠시만 기다리십시오 | 잠시만 기다려 주세요 | 보안 확인 | 보안 인증 | 로봇이 아닙니다 | 사람인지 확인하십시오 | 사람인지 확인
ar: لحظة من فضلك | يرجى الانتظار | التحقق الأمني | فحص الأمان | أنا لست روبوت | أنا لست برنامج روبوت | تحقق من أنك إنسان | هل أنت إنسان
sv: ett ögonblick | säkerhetskontroll | är du en robot | jag är inte en robot
cs: okamžik prosím | bezpečnostní kontrola | nejsem robot
uk: зачекайте | перевірка безпеки | я не робот
""")

CHALLENGE_TELLS = Phrases("""
en: verify you are human | verify you are a human | verify that you are human | verify that you are not a robot | verifying you are human | you are not a robot | you re not a robot | you are a human | you are human | you are a real person | checking your browser | needs to review the security of your connection | complete the captcha | solve the captcha | complete the security check | enable javascript and cookies to continue | unusual traffic from your computer | unusual activity from your | automated requests | automated access | something about your browser made us think | press and hold | press hold | type the characters you see | enter the characters | this process is automatic | redirected once the validation is complete | proof of work | you think like a bot | you were a bot | prevent automated | while we check your browser | while we verify your browser | while we verify that you | request is being verified | your browser will redirect | up to 5 seconds | a few seconds | solve the puzzle | complete the puzzle | complete the challenge | complete the verification | prove you are human | prove that you are human | not a robot
de: dass sie ein mensch sind | dass sie kein roboter sind | ihr browser wird überprüft | ungewöhnlichen datenverkehr | lösen sie das captcha | sicherheitsüberprüfung abschließen | aktivieren sie javascript und cookies | wenige sekunden
fr: que vous êtes humain | que vous n êtes pas un robot | vérification de votre navigateur | trafic inhabituel | activez javascript et les cookies | résoudre le captcha | quelques secondes
es: que eres humano | que es un ser humano | que no eres un robot | que no es un robot | tráfico inusual | active javascript y las cookies | comprobando su navegador | resuelva el captcha | unos segundos
it: che sei umano | che non sei un robot | di essere umano | di non essere un robot | traffico insolito | abilita javascript e i cookie | qualche secondo
pt: que você é humano | que é humano | que você não é um robô | que não é um robô | tráfego incomum | ative o javascript e os cookies | alguns segundos
nl: dat u een mens bent | dat je een mens bent | dat u geen robot bent | dat je geen robot bent | ongebruikelijk verkeer | enkele seconden
pl: że jesteś człowiekiem | że nie jesteś robotem | nietypowy ruch | kilka sekund
ru: что вы человек | что вы не робот | что запросы отправляли вы а не робот | запросы с вашего устройства похожи на автоматические | проверяем ваш браузер | включите javascript и файлы cookie
tr: insan olduğunuzu | robot olmadığınızı | olağan dışı trafik
ja: 人間であることを | ロボットではない | ブラウザを確認しています | 通常と異なるトラフィック
zh: 您是真人 | 不是机器人 | 正在检查您的浏览器 | 异常流量 | 完成验证 | 完成安全验证 | 您是人類 | 不是機器人
ko: 사람인지 확인 | 로봇이 아닌지 | 로봇이 아님 | 비정상적인 트래픽
ar: أنك إنسان | أنك لست روبوت | حركة مرور غير عادية
sv: att du är människa | att du inte är en robot
""")

SCRIPT_TELLS = Phrases("""
en: requires javascript | enable javascript | enable js | turn on javascript | enable cookies | javascript is required | javascript is disabled
de: aktivieren sie javascript | javascript aktivieren | javascript ist deaktiviert
fr: activer javascript | activez javascript
es: active javascript | activar javascript | habilite javascript
it: abilita javascript | attiva javascript
pt: ative o javascript | habilite o javascript
nl: schakel javascript in | javascript inschakelen
pl: włącz javascript | włącz obsługę javascript
ru: включите javascript
tr: javascript i etkinleştirin
ja: javascriptを有効に
zh: 启用javascript | 启用 javascript | 啟用 javascript
ko: javascript를 활성화
ar: تفعيل javascript
""")

CONSENT_TITLES = Phrases("""
en: before you continue | before you continue to | cookie consent | consent | cookie wall | we value your privacy | we care about your privacy | your privacy choices | your privacy matters | privacy settings | cookie settings | manage your privacy | privacy gate | your data your choice | agree to continue | age verification | are you over 18 | verify your age | part of the yahoo family of brands | is part of the yahoo family of brands | are you of legal drinking age | are you at least 18 | are you 18 or older
de: bevor sie fortfahren | bevor sie zu google weitergehen | einwilligung | zustimmung | datenschutzeinstellungen | privatsphäre einstellungen | wir respektieren ihre privatsphäre | ihre privatsphäre ist uns wichtig | mit werbung weiterlesen | weiterlesen mit werbung | nutzen sie uns mit werbung | wie möchten sie | cookie einstellungen | altersprüfung | altersverifikation | sind sie über 18 | sind sie mindestens 18 jahre alt | sind sie volljährig | bist du mindestens 18
fr: avant d accéder à | avant de continuer | consentement | vos choix de confidentialité | nous respectons votre vie privée | votre vie privée nous tient à cœur | paramètres de confidentialité | gestion des cookies | vérification de l âge | avez vous 18 ans | êtes vous majeur | votre vie privée est importante
es: antes de ir a | antes de continuar | consentimiento | valoramos tu privacidad | valoramos su privacidad | tu privacidad es importante | configuración de privacidad | verificación de edad | eres mayor de edad | eres mayor de 18
it: prima di continuare | prima di continuare su | consenso | rispettiamo la tua privacy | la tua privacy è importante | impostazioni sulla privacy | verifica dell età | sei maggiorenne | hai più di 18 anni
pt: antes de continuar | antes de prosseguir | consentimento | valorizamos a sua privacidade | a sua privacidade é importante | nós valorizamos sua privacidade | configurações de privacidade | verificação de idade | tem mais de 18 anos | você é maior de idade
nl: voordat je verdergaat | voordat u verdergaat | voordat je verdergaat naar | toestemming | wij respecteren je privacy | jouw privacy | privacy instellingen | privacy gate | cookies toestaan | leeftijdscontrole | ben je 18 jaar of ouder | bent u 18 jaar of ouder | mogen wij cookies plaatsen | mogen we cookies plaatsen
pl: zanim przejdziesz dalej | zanim przejdziesz do | zgoda | szanujemy twoją prywatność | twoja prywatność jest dla nas ważna | ustawienia prywatności | weryfikacja wieku | czy masz ukończone 18 lat | czy masz 18 lat | dbamy o twoją prywatność
ru: прежде чем продолжить | прежде чем перейти | согласие | мы ценим вашу конфиденциальность | настройки конфиденциальности | подтверждение возраста
tr: devam etmeden önce | onay | gizliliğinize değer veriyoruz | gizliliğiniz bizim için önemlidir | gizlilik ayarları | yaş doğrulama
ja: 続行する前に | cookie の同意 | 同意 | プライバシー設定 | あなたのプライバシーを尊重します | 年齢確認
zh: 继续之前 | 在继续之前 | 我们重视您的隐私 | 隐私设置 | 繼續之前 | 我們重視您的隱私 | 隱私權設定 | 年龄验证 | 年齡確認
ko: 계속하기 전에 | 동의 | 개인정보 보호 설정 | 귀하의 개인정보를 소중히 | 연령 확인
ar: قبل المتابعة | موافقة | نحن نقدر خصوصيتك | إعدادات الخصوصية | التحقق من العمر
sv: innan du fortsätter | samtycke | vi värnar om din integritet
da: før du fortsætter | samtykke
""")

CONSENT_BUTTONS = Phrases("""
en: accept all | accept | agree | i agree | accept cookies | accept all cookies | accept and continue | agree and continue | reject all | i accept | allow all | allow cookies | consent | manage options | continue with ads | i am 18 or older | yes i am over 18 | enter site | yes | no
de: alle akzeptieren | akzeptieren | zustimmen | zustimmen und weiter | ich stimme zu | einwilligen und weiter | alle ablehnen | alle cookies akzeptieren | akzeptieren und weiter | ja ich bin über 18 | ja | nein
fr: tout accepter | accepter | accepter et continuer | j accepte | tout refuser | accepter et fermer | continuer sans accepter | oui | non
es: aceptar todo | aceptar | aceptar y continuar | acepto | rechazar todo | sí
it: accetta tutto | accetta | accetta e continua | accetto | rifiuta tutto | accetta tutti | sì
pt: aceitar tudo | aceitar | aceitar e continuar | concordo | aceito | rejeitar tudo | sim
nl: alles accepteren | accepteren | akkoord | ja ik ga akkoord | alles weigeren | alles afwijzen | nee | ja
pl: zaakceptuj wszystko | akceptuję | zgadzam się | przejdź do serwisu | akceptuję i przechodzę do serwisu | odrzuć wszystko | tak | nie
ru: принять все | принять | согласен | я согласен | отклонить все
tr: tümünü kabul et | kabul et | kabul ediyorum | tümünü reddet
ja: すべて同意する | 同意する | 同意して続行 | すべて拒否 | すべて受け入れる
zh: 全部接受 | 接受 | 同意 | 同意并继续 | 全部拒绝 | 全部拒絕 | 同意並繼續
ko: 모두 수락 | 모두 동의 | 동의 | 동의합니다 | 모두 거부
ar: قبول الكل | قبول | أوافق | موافق | رفض الكل
sv: godkänn alla | acceptera alla | godkänn | jag godkänner
da: accepter alle | acceptér
""")

CONSENT_TELLS = Phrases("""
en: cookies | your data | your personal data | partners | your consent | years of age | legal age | legal drinking age | of age
de: cookies | ihre daten | einwilligung | zustimmung | partner | jahre alt | volljährig
fr: cookies | vos données | consentement | partenaires | majeur | 18 ans
es: cookies | tus datos | sus datos | consentimiento | socios | mayor de edad | 18 años
it: cookie | i tuoi dati | consenso | partner | maggiorenne | 18 anni
pt: cookies | seus dados | consentimento | parceiros | maior de idade | 18 anos
nl: cookies | je gegevens | uw gegevens | toestemming | 18 jaar | jaar oud
pl: cookie | plików cookies | twoje dane | twoich danych | zgoda | zgodę | partnerzy | 18 lat | pełnoletni
ru: cookie | файлы cookie | ваши данные | согласие
tr: çerezler | çerezleri | verileriniz
ja: cookie | クッキー | データ
zh: cookie | 数据 | 數據 | 隐私
ko: 쿠키 | 데이터
ar: ملفات تعريف الارتباط | بياناتك
sv: kakor | cookies
""")

LOGIN_TITLES = Phrases("""
en: log in | login | please log in to | please sign in to | log in to continue | sign in to continue | log on | logon | sign in | signin | sign on | please log in | please sign in | log in to | login to | sign in to | log in required | login required | sign in required | authentication required | you must log in | you must be logged in | single sign on | sso | member login | customer login | user login | account login | log in or sign up | log in or create an account | sign in or register | login or register | authentication | session expired | your session has expired | enter your password | password required | members only | web login service | central authentication service | protected
de: anmelden | anmeldung | einloggen | login | bitte anmelden | bitte melden sie sich an | bitte loggen sie sich ein | in ihr konto einloggen | anmeldung erforderlich | mein konto anmelden | sitzung abgelaufen | kundenlogin | zugang
fr: connexion | se connecter | connectez vous | identification | s identifier | identifiez vous | authentification | session expirée | espace membre
es: iniciar sesión | inicia sesión | inicio de sesión | acceder | acceso | entrar | identifícate | identificación | ingresar | ingreso | sesión caducada
it: accedi | accesso | login | effettua l accesso | entra | autenticazione | sessione scaduta | area riservata
pt: entrar | iniciar sessão | fazer login | faça login | acesse sua conta | acessar | acesso | autenticação | sessão expirada
nl: inloggen | log in | aanmelden | meld je aan | inloggen bij | sessie verlopen
pl: zaloguj się | zaloguj | logowanie | logowanie do | sesja wygasła | uwierzytelnianie
ru: вход | войти | вход в систему | вход на сайт | авторизация | войдите | требуется авторизация | вход в аккаунт | вход в личный кабинет
tr: giriş yap | giriş | oturum aç | oturum açın | üye girişi | kullanıcı girişi | giriş yapın
ja: ログイン | サインイン | ログインページ | ログインしてください | 会員ログイン
zh: 登录 | 登入 | 用户登录 | 请登录 | 会员登录 | 登錄 | 會員登入 | 请先登录 | 统一身份认证
ko: 로그인 | 로그인이 필요합니다 | 회원 로그인
ar: تسجيل الدخول | دخول | سجل الدخول | الدخول
sv: logga in | inloggning
da: log ind | log på
no: logg inn | logg på
fi: kirjaudu | kirjaudu sisään
cs: přihlášení | přihlásit se
hu: bejelentkezés
el: σύνδεση
uk: увійти | вхід
he: התחברות | כניסה
fa: ورود
""")

LOGIN_TELLS = Phrases("""
en: you need to log in | you need to sign in | you need to be logged in | you must log in | you must sign in | you must be logged in | you must be signed in | you are not logged in | you re not logged in | please log in | please sign in | please login | log in to continue | sign in to continue | login to continue | log in to view | sign in to view | log in to see | log in to access | sign in to access | login to access | your session has expired | enter your password | password protected
de: bitte melden sie sich an | bitte loggen sie sich ein | bitte anmelden | bitte einloggen | sie müssen sich anmelden | sie müssen angemeldet sein | sie sind nicht angemeldet | melden sie sich an um | ihre sitzung ist abgelaufen | geben sie ihr passwort ein | passwortgeschützt
fr: veuillez vous connecter | vous devez vous connecter | vous devez être connecté | connectez vous pour | identifiez vous pour | votre session a expiré | protégé par mot de passe
es: debe iniciar sesión | debes iniciar sesión | inicie sesión para | inicia sesión para | por favor inicie sesión | su sesión ha caducado | protegido por contraseña
it: devi effettuare l accesso | effettua l accesso per | accedi per | devi accedere | sessione scaduta | protetto da password
pt: você precisa fazer login | faça login para | precisa de iniciar sessão | inicie sessão para | sua sessão expirou | protegido por senha
nl: u moet inloggen | je moet inloggen | log in om | u moet ingelogd zijn | je moet ingelogd zijn | uw sessie is verlopen
pl: musisz się zalogować | zaloguj się aby | musisz być zalogowany | sesja wygasła
ru: необходимо войти | войдите чтобы | необходимо авторизоваться | вы не авторизованы | сессия истекла | введите пароль
tr: giriş yapmalısınız | giriş yapmanız gerekiyor | lütfen giriş yapın | oturumunuz sona erdi
ja: ログインしてください | ログインが必要です | セッションが切れました
zh: 请登录 | 请先登录 | 需要登录 | 請先登入 | 请输入密码
ko: 로그인해 주세요 | 로그인이 필요합니다 | 로그인 후 이용
ar: يجب تسجيل الدخول | يرجى تسجيل الدخول | سجل الدخول للمتابعة
""")

PARKED_TITLES = Phrases("""
en: this domain is parked free | this domain is parked free courtesy of | this domain name has expired | this domain name is parked | this web page is parked free courtesy of | this webpage is parked free | website coming soon | domain for sale | this domain is for sale | domain is for sale | this domain name is for sale | is for sale | buy this domain | the domain is available | domain parked | parked domain | this domain is parked | domain parking | domain name registered | this domain may be for sale | premium domain for sale | this domain has expired | domain expired | expired domain | domain suspended | account suspended | this account has been suspended | website suspended | website expired | website is no longer available | future home of | future home of something quite cool | this site is coming soon | welcome to nginx | apache2 ubuntu default page | apache2 debian default page | apache http server test page powered by | test page for the apache http server | test page for the nginx http server | http server test page | iis windows server | iis windows | iis7 | default web site page | default page | default plesk page | web server s default page | domain default page | website not published | site not found | site not published | there isn t a github pages site here | no such app | welcome to your new website | it works | xampp | welcome to caddy | placeholder page | site not configured
de: diese domain steht zum verkauf | domain steht zum verkauf | steht zum verkauf | domain zu verkaufen | domain kaufen | diese domain ist geparkt | domain geparkt | diese domain ist reserviert | hier entsteht eine neue internetpräsenz | hier entsteht eine neue website | hier entsteht | diese domain wurde registriert | domain registriert | konto gesperrt | diese domain ist abgelaufen | domain abgelaufen
fr: ce domaine est à vendre | domaine à vendre | nom de domaine à vendre | est à vendre | domaine réservé | domaine parqué | compte suspendu | site suspendu | ce nom de domaine a expiré | ce domaine a expiré | nom de domaine expiré | domaine expiré
es: este dominio está en venta | dominio en venta | está en venta | dominio aparcado | dominio registrado | cuenta suspendida | dominio estacionado | este dominio ha caducado | este dominio ha expirado | dominio caducado | dominio expirado | compra este dominio
it: questo dominio è in vendita | dominio in vendita | è in vendita | dominio parcheggiato | dominio registrato | account sospeso | questo dominio è scaduto | il dominio è scaduto | dominio scaduto
pt: este domínio está à venda | domínio à venda | está à venda | domínio estacionado | domínio registrado | conta suspensa | este domínio expirou | domínio expirado
nl: deze domeinnaam is te koop | domeinnaam te koop | is te koop | domein te koop | deze domeinnaam is geregistreerd | domein geparkeerd | gereserveerd domein | deze domeinnaam is verlopen | domeinnaam verlopen
pl: ta domena jest na sprzedaż | domena na sprzedaż | jest na sprzedaż | domena zaparkowana | domena zarejestrowana | konto zawieszone | ta domena wygasła | domena wygasła
ru: домен продается | домен продаётся | этот домен продается | продается домен | домен припаркован | домен зарегистрирован | срок регистрации домена истек | аккаунт заблокирован | хостинг заблокирован
tr: bu alan adı satılıktır | alan adı satılık | satılık alan adı | bu domain satılıktır | satılık domain | park edilmiş alan adı | hesap askıya alındı
ja: このドメインは販売中です | ドメイン販売中 | ドメインパーキング | このドメインは
zh: 域名出售 | 此域名正在出售 | 该域名正在出售 | 域名转让 | 本域名出售 | 網域出售 | 此網域正在出售 | 域名停放
ko: 도메인 판매 | 이 도메인은 판매 중입니다 | 도메인 파킹
ar: هذا النطاق معروض للبيع | النطاق للبيع | نطاق للبيع
sv: denna domän är till salu | domän till salu
cs: tato doména je na prodej | doména na prodej
""")

PARKED_TELLS = Phrases("""
en: domain is for sale | domain may be for sale | domain name is for sale | buy this domain | inquire about this domain | make an offer | related searches | sponsored listings | the domain owner | get this domain | own this domain | parked free | has been registered | domain has expired | renew your domain | this is the default welcome page | if you see this page | if you can read this page | this page is used to test | contact your hosting provider | contact your web hosting | the web server software is running but no content has been added | no content has been added yet | default index page | has been suspended | domain broker | purchase this domain | domain parking | 24 hours
de: domain steht zum verkauf | domain kaufen | domain erwerben | angebot abgeben | dem inhaber der domain | domain inhaber | gesponserte links | verwandte suchanfragen | domain parking | neue internetpräsenz | wurde registriert | hier entsteht | domain ist abgelaufen
fr: domaine est à vendre | acheter ce domaine | faire une offre | propriétaire du domaine | recherches associées | a été enregistré | domaine a expiré | le titulaire
es: dominio está en venta | comprar este dominio | hacer una oferta | búsquedas relacionadas | propietario del dominio | dominio ha caducado | dominio ha expirado
it: dominio è in vendita | acquista questo dominio | compra questo dominio | ricerche correlate | dominio è scaduto
pt: domínio está à venda | comprar este domínio | compre este domínio | pesquisas relacionadas
nl: domeinnaam te koop | koop deze domeinnaam | doe een bod | is geregistreerd | domeinnaam is verlopen
pl: domena jest na sprzedaż | kup tę domenę | złóż ofertę | domena wygasła
ru: домен продается | купить домен | купить этот домен | предложить цену | владелец домена
tr: alan adı satılıktır | bu alan adını satın al | teklif ver
ja: このドメインを購入 | ドメインを購入 | 関連検索
zh: 购买此域名 | 购买该域名 | 域名出售 | 相关搜索 | 購買此網域
ko: 도메인 구매 | 이 도메인을 구매 | 관련 검색
ar: شراء هذا النطاق | النطاق معروض للبيع
""")

MAINTENANCE_TITLES = Phrases("""
en: maintenance in progress | scheduled maintenance in progress | we are currently undergoing maintenance | currently undergoing maintenance | we are down for maintenance | we re down for maintenance | currently under maintenance | we are currently under maintenance | this site is under maintenance | our site is under maintenance | the site is temporarily unavailable | this site is temporarily unavailable | closed for maintenance | maintenance | site maintenance | maintenance mode | under maintenance | site under maintenance | website under maintenance | we are under maintenance | down for maintenance | site down for maintenance | scheduled maintenance | planned maintenance | system maintenance | undergoing maintenance | briefly unavailable for scheduled maintenance | we ll be back | we ll be right back | we ll be back soon | we will be back soon | be right back | be back soon | back soon | temporarily unavailable | site temporarily unavailable | service unavailable | service temporarily unavailable | temporarily down | site offline | site is offline | offline for maintenance | currently unavailable | under construction | we re making some improvements | down for scheduled maintenance | temporarily offline | website temporarily unavailable | currently down for maintenance
de: wartung | wartungsarbeiten | wartungsmodus | im wartungsmodus | wegen wartungsarbeiten nicht erreichbar | geplante wartungsarbeiten | vorübergehend nicht verfügbar | vorübergehend nicht erreichbar | zurzeit nicht erreichbar | derzeit nicht erreichbar | wir sind gleich zurück | wir sind bald zurück | gleich wieder da | bald wieder da | website im aufbau | im aufbau
fr: maintenance | en maintenance | site en maintenance | maintenance en cours | maintenance programmée | site en cours de maintenance | temporairement indisponible | site temporairement indisponible | momentanément indisponible | service indisponible | nous revenons bientôt | nous serons bientôt de retour | de retour bientôt | en construction
es: mantenimiento | en mantenimiento | sitio en mantenimiento | página en mantenimiento | web en mantenimiento | modo mantenimiento | mantenimiento programado | temporalmente no disponible | no disponible temporalmente | servicio no disponible | volvemos pronto | volveremos pronto | en construcción | estamos en mantenimiento
it: manutenzione | in manutenzione | sito in manutenzione | manutenzione in corso | manutenzione programmata | temporaneamente non disponibile | servizio non disponibile | torniamo subito | torneremo presto | in costruzione
pt: manutenção | em manutenção | site em manutenção | página em manutenção | manutenção programada | temporariamente indisponível | serviço indisponível | voltamos em breve | voltaremos em breve | estamos em manutenção | em construção
nl: onderhoud | in onderhoud | gepland onderhoud | website in onderhoud | site in onderhoud | onderhoudswerkzaamheden | tijdelijk niet beschikbaar | tijdelijk niet bereikbaar | we zijn zo terug | we zijn zo weer terug | we zijn snel terug | in aanbouw
pl: przerwa techniczna | prace techniczne | prace konserwacyjne | konserwacja | strona w trakcie konserwacji | serwis tymczasowo niedostępny | chwilowo niedostępny | tymczasowo niedostępna | zaraz wracamy | wkrótce wracamy | strona w budowie
ru: технические работы | техническое обслуживание | ведутся технические работы | на сайте ведутся технические работы | сайт на обслуживании | профилактические работы | временно недоступен | сайт временно недоступен | сервис временно недоступен | скоро вернемся | мы скоро вернемся | сайт в разработке
tr: bakım | bakım çalışması | bakım modu | bakımdayız | site bakımda | sitemiz bakımda | planlı bakım | geçici olarak kullanılamıyor | geçici olarak hizmet dışı | hizmet kullanılamıyor | yakında döneceğiz | yapım aşamasında
ja: メンテナンス | メンテナンス中 | ただいまメンテナンス中です | メンテナンスのお知らせ | サイトメンテナンス中 | 一時的に利用できません | サービスは一時的に利用できません | 準備中 | 工事中
zh: 维护中 | 系统维护 | 网站维护中 | 系统维护中 | 网站正在维护 | 正在维护 | 暂时无法访问 | 服务暂时不可用 | 維護中 | 系統維護 | 網站維護中 | 系統維護中 | 暫時無法使用 | 网站建设中
ko: 점검 중 | 시스템 점검 | 시스템 점검 중 | 서비스 점검 중 | 사이트 점검 중 | 서비스 점검 | 일시적으로 사용할 수 없습니다 | 곧 돌아오겠습니다 | 준비 중입니다
ar: صيانة | تحت الصيانة | الموقع تحت الصيانة | وضع الصيانة | غير متاح مؤقتا | الموقع غير متاح مؤقتا | سنعود قريبا | تحت الإنشاء
sv: underhåll | underhåll pågår | tillfälligt otillgänglig | vi är snart tillbaka
da: vedligeholdelse | midlertidigt utilgængelig
cs: údržba | probíhá údržba | dočasně nedostupné
uk: технічні роботи | тимчасово недоступний
""")

MAINTENANCE_TELLS = Phrases("""
en: back soon | back shortly | be back | check back | try again later | try again in a | try again shortly | come back later | come back soon | be right back | back online | please try again | performing maintenance | performing some maintenance | performing scheduled maintenance | undergoing maintenance | undergoing scheduled maintenance | down for maintenance | carrying out maintenance | currently under maintenance | thank you for your patience | thanks for your patience | apologize for the inconvenience | apologise for the inconvenience | sorry for the inconvenience | in a few minutes | check again in a minute
de: versuchen sie es später | später erneut | später noch einmal | später wieder | in kürze wieder | bald wieder | gleich wieder | wieder für sie da | vielen dank für ihr verständnis | danke für ihr verständnis | bitten um verständnis | bitten um geduld | wartungsarbeiten durch | wegen wartungsarbeiten | aufgrund von wartungsarbeiten | in wenigen minuten
fr: revenez plus tard | réessayer plus tard | réessayez plus tard | réessayer ultérieurement | bientôt de retour | de retour dans | de retour bientôt | veuillez nous excuser | nous nous excusons | merci de votre patience | merci de votre compréhension | dans quelques minutes | dans quelques instants
es: vuelva más tarde | vuelve más tarde | inténtelo más tarde | inténtalo más tarde | intente más tarde | volveremos en breve | volveremos pronto | volvemos en | disculpe las molestias | disculpen las molestias | disculpa las molestias | gracias por su paciencia | en unos minutos
it: riprova più tardi | riprovare più tardi | torna più tardi | torneremo presto | torneremo online | torniamo presto | ci scusiamo per | grazie per la pazienza | tra pochi minuti
pt: tente novamente mais tarde | volte mais tarde | voltaremos em breve | voltamos em breve | desculpe o transtorno | pedimos desculpa | agradecemos a compreensão | em alguns minutos | dentro de momentos
nl: probeer het later | probeer later | kom later terug | snel weer | zo weer | zo snel mogelijk weer | excuses voor het ongemak | onze excuses | bedankt voor uw geduld | over enkele minuten
pl: spróbuj ponownie później | spróbuj później | wróć później | zapraszamy wkrótce | wkrótce wracamy | zaraz wracamy | przepraszamy za | za kilka minut | dziękujemy za cierpliwość
ru: попробуйте позже | повторите попытку позже | зайдите позже | скоро вернемся | скоро будет доступен | в ближайшее время | приносим извинения | извините за неудобства | через несколько минут | спасибо за понимание
tr: daha sonra tekrar | lütfen daha sonra | kısa süre sonra | kısa süre içinde | birazdan | yakında | anlayışınız için | verdiğimiz rahatsızlıktan | birkaç dakika
ja: しばらくしてから | 時間をおいて | しばらくお待ちください | 後ほど | ご不便をおかけ | ご迷惑をおかけ | 再度アクセス | 再度お試し
zh: 稍后再试 | 稍后再访问 | 请稍后 | 稍後再試 | 請稍後 | 带来的不便 | 帶來的不便 | 敬请谅解 | 很快回来 | 恢复访问
ko: 나중에 다시 | 잠시 후 다시 | 잠시 후에 다시 | 불편을 드려 | 양해 부탁 | 이용에 불편
ar: المحاولة لاحقا | حاول لاحقا | يرجى المحاولة | سنعود قريبا | نعتذر عن | شكرا لصبركم | بعد قليل
sv: försök igen senare | snart tillbaka | tack för ditt tålamod
da: prøv igen senere | snart tilbage
cs: zkuste to později | brzy zpět | omlouváme se
""")

NOT_FOUND_TITLES = Phrases("""
en: the requested page does not exist | the page you requested does not exist | the page you requested doesn t exist | the page you requested cannot be found | the page you were looking for could not be found | the page you are looking for cannot be found | the page you are looking for can t be found | the page you are looking for doesn t exist | the page you re looking for could not be found | the page you re looking for doesn t exist | the page you re looking for isn t here | we couldn t find the page you re looking for | we could not find the page you were looking for | we can t find the page you were looking for | we can t find this page | we can t seem to find the page you re looking for | we can not find the page you are looking for | sorry we can t find that page | this article is no longer available | this article could not be found | this article does not exist | this article has been removed | this post has been removed | this story is no longer available | this page has moved or been deleted | that page doesn t seem to exist | this page doesn t seem to exist | page does not exist or has been removed | page not found | not found | file not found | resource not found | url not found | object not found | content not found | article not found | post not found | product not found | item not found | document not found | the page was not found | page cannot be found | page can t be found | page could not be found | the page cannot be found | the page could not be found | this page could not be found | this page cannot be found | this page can t be found | that page can t be found | that page could not be found | the page you requested could not be found | the page you requested was not found | the page you are looking for could not be found | the page you are looking for does not exist | the page you re looking for can t be found | the page you were looking for doesn t exist | the requested page could not be found | requested page not found | the requested url was not found | we can t find that page | we can t find the page you re looking for | we couldn t find that page | we couldn t find the page | we couldn t find this page | we could not find that page | we couldn t find the page you were looking for | page doesn t exist | page does not exist | this page doesn t exist | this page does not exist | that page doesn t exist | the page does not exist | page not available | page unavailable | this page isn t available | this page is not available | this page is no longer available | page no longer available | page no longer exists | no longer available | nothing found | page missing | missing page | page is missing | page removed | this page has been removed | page moved or deleted | page deleted | this content isn t available | this content is no longer available | content unavailable | 410 gone
de: seite nicht gefunden | nicht gefunden | datei nicht gefunden | inhalt nicht gefunden | artikel nicht gefunden | produkt nicht gefunden | die seite wurde nicht gefunden | seite wurde nicht gefunden | diese seite wurde nicht gefunden | die seite konnte nicht gefunden werden | seite konnte nicht gefunden werden | diese seite konnte nicht gefunden werden | die angeforderte seite wurde nicht gefunden | die angeforderte seite konnte nicht gefunden werden | die gesuchte seite wurde nicht gefunden | die von ihnen gesuchte seite wurde nicht gefunden | seite existiert nicht | diese seite existiert nicht | diese seite existiert leider nicht | diese seite gibt es nicht | diese seite gibt es leider nicht | diese seite existiert nicht mehr | seite nicht verfügbar | seite nicht mehr verfügbar | nicht mehr verfügbar | seite nicht vorhanden | wir konnten die seite nicht finden | leider nicht gefunden | inhalt nicht verfügbar | inhalt nicht mehr verfügbar | dieser inhalt ist nicht mehr verfügbar
fr: page non trouvée | page introuvable | non trouvé | non trouvée | introuvable | cette page est introuvable | la page est introuvable | la page demandée est introuvable | la page que vous recherchez est introuvable | la page n a pas été trouvée | page inexistante | cette page n existe pas | cette page n existe plus | la page n existe pas | la page demandée n existe pas | page indisponible | page non disponible | contenu introuvable | article introuvable | contenu indisponible | produit introuvable | fichier non trouvé | ce contenu n est plus disponible | contenu non disponible | cet article n existe plus
es: página no encontrada | no encontrado | no encontrada | archivo no encontrado | contenido no encontrado | artículo no encontrado | producto no encontrado | la página no existe | esta página no existe | la página no fue encontrada | la página no se encuentra | no se encontró la página | no se ha encontrado la página | no se encuentra la página | no encontramos la página | página no disponible | la página que buscas no existe | la página que busca no existe | la página solicitada no existe | página inexistente | contenido no disponible | este contenido ya no está disponible | no encontramos lo que buscas | no encontramos lo que buscabas
it: pagina non trovata | non trovato | non trovata | file non trovato | contenuto non trovato | articolo non trovato | prodotto non trovato | la pagina non esiste | questa pagina non esiste | la pagina non è stata trovata | la pagina richiesta non è stata trovata | la pagina richiesta non esiste | la pagina che cerchi non esiste | pagina inesistente | pagina non disponibile | pagina non più disponibile | contenuto non disponibile | contenuto non più disponibile | questo contenuto non è più disponibile
pt: página não encontrada | não encontrado | não encontrada | arquivo não encontrado | ficheiro não encontrado | conteúdo não encontrado | artigo não encontrado | produto não encontrado | a página não existe | esta página não existe | a página não foi encontrada | página não existe | página inexistente | página não disponível | página indisponível | a página que procura não existe | a página solicitada não foi encontrada | conteúdo não disponível | conteúdo indisponível | este conteúdo não está mais disponível
nl: pagina niet gevonden | niet gevonden | bestand niet gevonden | artikel niet gevonden | product niet gevonden | deze pagina bestaat niet | deze pagina bestaat niet meer | de pagina bestaat niet | pagina bestaat niet | deze pagina is niet gevonden | de pagina is niet gevonden | de pagina kan niet worden gevonden | pagina kan niet worden gevonden | deze pagina kon niet worden gevonden | pagina niet beschikbaar | we kunnen de pagina niet vinden | inhoud niet beschikbaar | artikel niet beschikbaar
pl: nie znaleziono strony | strona nie znaleziona | strona nie została znaleziona | strona nie zostala znaleziona | nie znaleziono | nie odnaleziono strony | strona nie istnieje | ta strona nie istnieje | brak strony | nie ma takiej strony | podana strona nie istnieje | szukana strona nie istnieje | strona niedostępna | plik nie został znaleziony | treść niedostępna | artykuł niedostępny
ru: страница не найдена | не найдено | не найдена | файл не найден | документ не найден | материал не найден | товар не найден | запрашиваемая страница не найдена | запрошенная страница не найдена | страница не существует | такой страницы нет | такой страницы не существует | страницы не существует | страница удалена | страница недоступна | страница отсутствует | мы не нашли такую страницу
tr: sayfa bulunamadı | bulunamadı | aradığınız sayfa bulunamadı | aradığınız sayfa mevcut değil | sayfa mevcut değil | böyle bir sayfa yok | dosya bulunamadı | içerik bulunamadı | ürün bulunamadı | bu sayfa mevcut değil
ja: ページが見つかりません | ページが見つかりませんでした | ページは見つかりません | ページは見つかりませんでした | お探しのページは見つかりません | お探しのページは見つかりませんでした | お探しのページが見つかりません | お探しのページが見つかりませんでした | 指定されたページが見つかりません | 指定されたページは見つかりませんでした | ページが存在しません | 見つかりません | 見つかりませんでした | お探しのページは存在しません
zh: 页面未找到 | 未找到页面 | 找不到页面 | 页面不存在 | 您访问的页面不存在 | 你访问的页面不存在 | 您要访问的页面不存在 | 抱歉 您访问的页面不存在 | 页面找不到 | 找不到该页面 | 无法找到该页 | 无法找到页面 | 未找到 | 页面找不到了 | 找不到網頁 | 找不到頁面 | 找不到此頁面 | 頁面不存在 | 網頁不存在 | 您要找的頁面不存在 | 頁面未找到
ko: 페이지를 찾을 수 없습니다 | 페이지를 찾을 수 없음 | 찾을 수 없음 | 찾을 수 없습니다 | 요청하신 페이지를 찾을 수 없습니다 | 존재하지 않는 페이지 | 존재하지 않는 페이지입니다 | 페이지가 존재하지 않습니다
ar: الصفحة غير موجودة | الصفحة المطلوبة غير موجودة | صفحة غير موجودة | غير موجود | غير موجودة | لم يتم العثور على الصفحة | لم يتم العثور على | الصفحة غير متوفرة | الصفحة غير متاحة | هذه الصفحة غير موجودة
sv: sidan hittades inte | sidan kunde inte hittas | sidan finns inte | sidan kan inte hittas | hittades inte
da: siden blev ikke fundet | siden findes ikke | siden kunne ikke findes | ikke fundet
no: siden ble ikke funnet | siden finnes ikke | fant ikke siden | finner ikke siden | ikke funnet
fi: sivua ei löytynyt | sivua ei löydy | sivua ei ole | hakemaasi sivua ei löytynyt
cs: stránka nenalezena | stránka nebyla nalezena | stránka neexistuje | nenalezeno
sk: stránka sa nenašla | stránka nebola nájdená | stránka neexistuje
hu: az oldal nem található | a keresett oldal nem található | nem található
ro: pagina nu a fost găsită | pagina nu există | pagina nu a fost gasita
el: η σελίδα δεν βρέθηκε | δεν βρέθηκε
uk: сторінку не знайдено | сторінка не знайдена | сторінки не існує | не знайдено
he: הדף לא נמצא | העמוד לא נמצא | לא נמצא
fa: صفحه یافت نشد | صفحه مورد نظر یافت نشد | صفحه پیدا نشد
hi: पृष्ठ नहीं मिला | पेज नहीं मिला
id: halaman tidak ditemukan
vi: không tìm thấy trang | trang không tồn tại
th: ไม่พบหน้า | ไม่พบหน้าเว็บ
ca: pàgina no trobada | no s ha trobat la pàgina
bg: страницата не е намерена
hr: stranica nije pronađena
""")

NOT_FOUND_TELLS = Phrases("""
en: you requested | you have requested | you are looking for | you re looking for | you were looking for | you are trying to | you were trying to | you tried to | you followed | you clicked | you typed | check the url | check the address | check the spelling | mistyped | mis typed | broken link | outdated link | may have been moved | might have been moved | has been moved | may have moved | might have moved | may have been removed | might have been removed | has been removed | was removed | been deleted | no longer exists | never existed | couldn t find | could not find | can t find | go back | return to the | return home | back to home | back to the home | back to homepage | go to the home | go to homepage | go home | take me home | our homepage | our home page | the home page | use the search | try searching | try a search | was not found on this server | looks like nothing was found
de: die sie suchen | sie gesuchte | nach der sie suchen | gesuchte seite | gewünschte seite | angeforderte seite | angeforderte url | aufgerufene seite | eingegebene adresse | die adresse | tippfehler | zur startseite | zur homepage | unsere startseite | unserer startseite | auf der startseite | verschoben | gelöscht oder | existiert nicht mehr | nicht mehr verfügbar | nutzen sie die suche | verwenden sie die suche | benutzen sie die suche | unsere suche | konnte nicht gefunden werden | konnten wir nicht finden | zurück zur
fr: que vous recherchez | que vous cherchez | que vous avez demandée | que vous demandez | page demandée | vous avez saisi | vérifiez l adresse | vérifier l adresse | vérifiez l url | été déplacée | été supprimée | déplacée ou supprimée | n existe plus | retour à l accueil | retourner à l accueil | revenir à l accueil | retour à la page d accueil | page d accueil | utilisez le moteur de recherche | faire une recherche | effectuer une recherche | lien que vous avez suivi
es: que buscas | que busca | que está buscando | que estás buscando | que intenta | que intentas | que has solicitado | que ha solicitado | solicitada | solicitado | ha sido movida | ha sido eliminada | haya sido eliminada | ya no existe | ha cambiado de | volver al inicio | volver a la página de inicio | volver a la portada | ir al inicio | página de inicio | página principal | verifica la dirección | compruebe la dirección | comprueba la dirección | utiliza el buscador | utilice el buscador | que intentas visitar | no existe o
it: che cerchi | che stai cercando | che stavi cercando | che hai cercato | che cercavi | che hai richiesto | richiesta non | pagina richiesta | è stata spostata | è stata rimossa | stata rimossa | stata cancellata | non esiste più | torna alla home | tornare alla home | torna alla homepage | vai alla home | pagina iniziale | verifica l indirizzo | controlla l indirizzo | prova a cercare | utilizza la ricerca
pt: que procura | que você procura | que está procurando | que você está procurando | que está a procurar | que tentou | que você tentou | solicitada | foi movida | foi removida | ter sido removida | foi excluída | não existe mais | já não existe | voltar para a página inicial | voltar ao início | voltar à página inicial | volte para a página inicial | página inicial | verifique o endereço | verifique a url | utilize a busca | faça uma busca
nl: die u zoekt | die je zoekt | u probeert | je probeert | u zocht | je zocht | opgevraagde pagina | is verplaatst | is verwijderd | verplaatst of verwijderd | bestaat niet meer | niet langer beschikbaar | terug naar home | terug naar de home | naar de homepage | naar de homepagina | naar de startpagina | controleer het adres | controleer de url | gebruik de zoekfunctie | gebruik de zoek
pl: której szukasz | którą szukasz | której szukają | której żądasz | żądana strona | szukana strona | podany adres | wpisany adres | sprawdź adres | została przeniesiona | została usunięta | przeniesiona lub usunięta | już nie istnieje | wróć na stronę główną | przejdź do strony głównej | wróć do strony głównej | strona główna | stronę główną | skorzystaj z wyszukiwarki
ru: которую вы ищете | которую вы искали | вы ищете | вы запросили | вы искали | вы перешли | запрашиваемая | запрошенная | запрашиваемой | неправильно набран | неправильный адрес | проверьте адрес | проверьте правильность | была удалена | была перемещена | удалена или | больше не существует | вернуться на главную | перейти на главную | на главную страницу | на главную | главной страницы | воспользуйтесь поиском | вернитесь на
tr: aradığınız | ulaşmaya çalıştığınız | gitmek istediğiniz | istediğiniz sayfa | kaldırılmış | silinmiş | taşınmış | adresi kontrol | ana sayfaya dön | anasayfaya dön | ana sayfaya git | anasayfaya git | ana sayfa | arama yapabilirsiniz
ja: お探しの | 指定された | 指定した | アクセスしようと | 移動または削除 | 移動もしくは削除 | 削除された | 移動した | url をご確認 | urlをご確認 | アドレスをご確認 | トップページ | ホームに戻る | トップへ戻る | ホームへ戻る
zh: 您访问的 | 您要访问的 | 你访问的 | 您请求的 | 您查找的 | 您要查找的 | 您要找的 | 已被删除 | 已删除 | 已移动 | 请检查 | 返回首页 | 回到首页 | 返回主页 | 您造訪的 | 您要尋找的 | 已被移除 | 返回首頁 | 回到首頁 | 回首頁
ko: 요청하신 | 찾으시는 | 찾으시려는 | 삭제되었거나 | 변경되었거나 | 주소를 확인 | 주소가 | 홈으로 | 메인으로 | 메인 페이지로
ar: التي تبحث عنها | التي طلبتها | الذي تبحث عنه | المطلوبة | تم حذفها | تم نقلها | تم حذف | العودة إلى الصفحة الرئيسية | العودة للرئيسية | الصفحة الرئيسية | العودة إلى الرئيسية | تأكد من | تحقق من العنوان
sv: du söker | du letar efter | du sökte | har flyttats | har tagits bort | till startsidan
da: du leder efter | du søger | er flyttet | er blevet flyttet | slettet | til forsiden
no: du leter etter | er flyttet | er slettet | til forsiden
fi: etsimääsi | etsimäsi | hakemaasi | on poistettu | on siirretty | etusivulle
cs: kterou hledáte | hledaná stránka | byla přesunuta | byla odstraněna | na hlavní stránku | na úvodní stránku
hu: a keresett | áthelyezték | törölték | főoldalra | kezdőlapra
ro: pe care o căutați | a fost mutată | a fost ștearsă | pagina principală
el: που ψάχνετε | που ζητήσατε | αρχική σελίδα
uk: яку ви шукаєте | на головну | видалена
he: שחיפשת | לדף הבית | לעמוד הבית
fa: که به دنبال آن | صفحه اصلی
hi: मुख पृष्ठ | होम पेज
id: yang anda cari | beranda
vi: bạn tìm kiếm | bạn đang tìm | trang chủ
th: หน้าแรก | ที่คุณต้องการ
""")

BLOCKED_TITLES = Phrases("""
en: unavailable due to legal reasons | this site is not available in your country | this site is not available in your region | this website is not available in your country | this website is unavailable in your location | access from your country is blocked | you do not have permission to access | you do not have access | access to this resource is forbidden | access to this page is forbidden | access to this page has been blocked | slow down | access denied | access forbidden | forbidden | access blocked | access restricted | request blocked | request rejected | the request is blocked | blocked | you have been blocked | sorry you have been blocked | you are blocked | your ip has been blocked | your ip address has been blocked | your access has been blocked | your access to this site has been limited | your access to this site has been limited by the site owner | access to this website is blocked | access to this site has been blocked | permission denied | unauthorized | not authorized | you don t have permission to access | you don t have access | not available in your region | not available in your country | not available in your location | this content is not available in your region | this content is not available in your country | content not available in your region | unavailable for legal reasons | unavailable in your region | too many requests | rate limited | rate limit exceeded | request unsuccessful | website blocked | web page blocked | the requested url was rejected | human verification failed | bad bot | this page is not available in your country | this page is not available in your region | this content is not available in your location | this video is not available in your country | this video is not available in your region
de: zugriff verweigert | zugang verweigert | zugriff verboten | zugriff gesperrt | zugriff blockiert | gesperrt | verboten | sie wurden blockiert | ihre ip adresse wurde gesperrt | keine berechtigung | in ihrem land nicht verfügbar | in ihrer region nicht verfügbar | zu viele anfragen | dieser inhalt ist in ihrem land nicht verfügbar | dieser inhalt ist in ihrer region nicht verfügbar | inhalt in ihrem land nicht verfügbar
fr: accès refusé | accès interdit | accès bloqué | interdit | vous avez été bloqué | votre adresse ip a été bloquée | non disponible dans votre pays | non disponible dans votre région | trop de requêtes | ce contenu n est pas disponible dans votre pays | ce contenu n est pas disponible dans votre région | cette vidéo n est pas disponible dans votre pays | cette page n est pas disponible dans votre pays
es: acceso denegado | acceso prohibido | acceso restringido | acceso bloqueado | prohibido | has sido bloqueado | ha sido bloqueado | no disponible en tu país | no disponible en su país | no disponible en tu región | demasiadas solicitudes | este contenido no está disponible en tu país | este contenido no está disponible en su país | este contenido no está disponible en tu región | contenido no disponible en tu país
it: accesso negato | accesso vietato | accesso bloccato | vietato | sei stato bloccato | non disponibile nel tuo paese | troppe richieste | questo contenuto non è disponibile nel tuo paese | contenuto non disponibile nel tuo paese
pt: acesso negado | acesso proibido | acesso bloqueado | proibido | você foi bloqueado | não disponível no seu país | não disponível em seu país | muitas solicitações | muitas requisições | este conteúdo não está disponível no seu país | este conteúdo não está disponível em seu país
nl: toegang geweigerd | toegang verboten | geen toegang | verboden | u bent geblokkeerd | je bent geblokkeerd | niet beschikbaar in uw land | niet beschikbaar in jouw land | te veel verzoeken | te veel aanvragen | deze inhoud is niet beschikbaar in uw land | deze inhoud is niet beschikbaar in jouw land
pl: odmowa dostępu | dostęp zabroniony | brak dostępu | dostęp zablokowany | zostałeś zablokowany | niedostępne w twoim kraju | zbyt wiele żądań | ta treść jest niedostępna w twoim kraju
ru: доступ запрещен | доступ запрещён | доступ ограничен | доступ заблокирован | доступ закрыт | запрещено | вы заблокированы | ваш ip заблокирован | ваш ip адрес заблокирован | недоступно в вашей стране | недоступно в вашем регионе | слишком много запросов | этот контент недоступен в вашей стране | контент недоступен в вашем регионе
tr: erişim engellendi | erişim reddedildi | erişim yasak | yasak | engellendiniz | ip adresiniz engellendi | ülkenizde kullanılamıyor | çok fazla istek
ja: アクセスが拒否されました | アクセス拒否 | アクセスできません | アクセス禁止 | アクセス制限 | 閲覧できません | お住まいの地域ではご利用いただけません | リクエストが多すぎます
zh: 访问被拒绝 | 拒绝访问 | 禁止访问 | 访问受限 | 访问被阻断 | 访问被拦截 | 您的访问被阻断 | 您的 ip 已被封禁 | 在您所在的地区不可用 | 请求过多 | 請求過多 | 拒絕存取 | 禁止訪問 | 存取被拒 | 訪問被拒絕
ko: 접근이 거부되었습니다 | 접근 거부 | 액세스 거부 | 액세스가 거부되었습니다 | 접속이 차단되었습니다 | 차단되었습니다 | 접근 금지 | 요청이 너무 많습니다 | 해당 국가에서는 이용할 수 없습니다
ar: تم رفض الوصول | الوصول مرفوض | الوصول محظور | ممنوع | تم حظرك | تم الحظر | غير متوفر في بلدك | غير متاح في منطقتك | طلبات كثيرة جدا
sv: åtkomst nekad | du har blivit blockerad
cs: přístup odepřen | přístup zamítnut
uk: доступ заборонено
""")

BLOCKED_TELLS = Phrases("""
en: reference id | reference number | reference 18 | reference | ray id | incident id | request id | support id | event id | block id | your ip | your ip address | client ip | you don t have permission | you do not have permission | don t have permission to access | has been blocked | have been blocked | you are unable to access | security service to protect itself | security rules | triggered the security solution | contact the site owner | contact the website owner | contact your administrator | contact the administrator | contact support | automated | from your country | in your country | in your region | from your location | european economic area | eea | gdpr | legal reasons | too many requests | rate limit | try again later | suspicious activity | unusual activity | unauthorized activity | firewall
de: ihre ip | ip adresse | keine berechtigung | referenz | referenznummer | wurde blockiert | wurden blockiert | gesperrt | administrator | in ihrem land | in ihrer region | verdächtige aktivität | ihre anfrage wurde | firewall
fr: votre ip | adresse ip | l autorisation | pas autorisé | référence | été bloqué | été bloquée | administrateur | votre pays | votre région
es: su ip | tu ip | dirección ip | permiso | referencia | sido bloqueado | sido bloqueada | administrador | su país | tu país | su región
it: tuo ip | indirizzo ip | permesso | autorizzazione | riferimento | stato bloccato | bloccato | amministratore | tuo paese
pt: seu ip | endereço ip | permissão | referência | foi bloqueado | foi bloqueada | administrador | seu país
nl: uw ip | je ip | ip adres | toestemming | geen rechten | referentie | geblokkeerd | beheerder | uw land | jouw land
pl: twój adres ip | adres ip | uprawnień | zablokowany | zablokowane | administratorem | twoim kraju
ru: ваш ip | ip адрес | нет прав | нет доступа | заблокирован | администратору | вашей стране | вашем регионе | запросов
tr: ip adresiniz | ip adresi | yetkiniz | izniniz | engellendi | yönetici | ülkenizde
ja: ipアドレス | ip アドレス | 権限 | 許可 | 参照番号 | 管理者 | 地域 | お問い合わせ
zh: ip地址 | ip 地址 | 您的 ip | 您的ip | 权限 | 管理员 | 地区 | 请求 | 事件编号 | 權限 | 管理員
ko: ip 주소 | ip | 권한 | 관리자 | 차단 | 국가
ar: عنوان ip | الخاص بك | إذن | صلاحية | المسؤول | بلدك | منطقتك
""")

ERROR_TITLES = Phrases("""
en: looks like something went wrong | it looks like something went wrong | a problem occurred | there was a problem | there was an error | there has been an error | an internal error occurred | an internal server error occurred | internal error | unexpected server error | a client side exception has occurred | a server side exception has occurred | this page isn t working | this page is not working | connection refused | error connecting to database | error connecting to the database | could not connect to the database | database is down | service error | internal server error | server error | application error | unexpected error | an error occurred | an error has occurred | an unexpected error occurred | an unexpected error has occurred | something went wrong | something has gone wrong | something s gone wrong | oops something went wrong | we re sorry but something went wrong | system error | fatal error | database error | database connection error | error establishing a database connection | error establishing database connection | runtime error | server error in application | bad gateway | gateway timeout | gateway time out | bad request | web server is down | connection timed out | origin is unreachable | host error | unhandled exception | exception | technical difficulties | we are experiencing technical difficulties | we re experiencing technical difficulties | the website encountered an unexpected error | the site is experiencing technical difficulties | no server is available to handle this request | application failed to respond
de: interner serverfehler | serverfehler | interner fehler | ein fehler ist aufgetreten | es ist ein fehler aufgetreten | ein unerwarteter fehler ist aufgetreten | unerwarteter fehler | technischer fehler | systemfehler | datenbankfehler | fehler beim aufbau einer datenbankverbindung | etwas ist schiefgelaufen | da ist etwas schiefgelaufen | technische probleme
fr: erreur interne du serveur | erreur interne | erreur serveur | erreur du serveur | une erreur est survenue | une erreur s est produite | une erreur inattendue s est produite | erreur technique | erreur lors de la connexion à la base de données | un problème est survenu | quelque chose s est mal passé
es: error interno del servidor | error interno | error del servidor | ha ocurrido un error | se ha producido un error | ocurrió un error | error inesperado | algo salió mal | algo ha salido mal | algo ha ido mal | error al establecer una conexión con la base de datos | error del sistema
it: errore interno del server | errore interno | errore del server | si è verificato un errore | si è verificato un errore imprevisto | errore imprevisto | qualcosa è andato storto | errore nello stabilire una connessione al database | errore di sistema
pt: erro interno do servidor | erro interno | erro no servidor | erro do servidor | ocorreu um erro | ocorreu um erro inesperado | erro inesperado | algo deu errado | algo correu mal | erro ao estabelecer uma conexão com o banco de dados
nl: interne serverfout | serverfout | interne fout | er is een fout opgetreden | er is iets fout gegaan | er is iets misgegaan | er ging iets mis | onverwachte fout | technische storing | fout bij het maken van een databaseverbinding
pl: wewnętrzny błąd serwera | błąd serwera | błąd wewnętrzny | wystąpił błąd | wystąpił nieoczekiwany błąd | coś poszło nie tak | błąd aplikacji | błąd połączenia z bazą danych
ru: внутренняя ошибка сервера | ошибка сервера | внутренняя ошибка | произошла ошибка | произошла непредвиденная ошибка | что то пошло не так | ошибка приложения | ошибка базы данных | ошибка установки соединения с базой данных | техническая ошибка
tr: sunucu hatası | dahili sunucu hatası | iç sunucu hatası | bir hata oluştu | beklenmeyen bir hata oluştu | bir şeyler ters gitti | bir şeyler yanlış gitti | veritabanı bağlantısı kurulurken hata | sistem hatası
ja: サーバーエラー | 内部サーバーエラー | サーバーエラーが発生しました | エラーが発生しました | 予期しないエラーが発生しました | システムエラー | 問題が発生しました | データベース接続確立エラー | アプリケーションエラー
zh: 服务器错误 | 内部服务器错误 | 服务器内部错误 | 发生错误 | 系统错误 | 出错了 | 出错啦 | 程序异常 | 数据库连接错误 | 建立数据库连接时出错 | 伺服器錯誤 | 內部伺服器錯誤 | 發生錯誤 | 系統錯誤 | 系统发生错误
ko: 서버 오류 | 내부 서버 오류 | 오류가 발생했습니다 | 오류가 발생하였습니다 | 예기치 않은 오류 | 시스템 오류 | 문제가 발생했습니다 | 데이터베이스 연결 오류
ar: خطأ في الخادم | خطأ داخلي في الخادم | حدث خطأ | حدث خطأ ما | حدث خطأ غير متوقع | خطأ في النظام | خطأ في الاتصال بقاعدة البيانات
sv: internt serverfel | något gick fel | ett fel har uppstått | ett fel uppstod
da: der opstod en fejl | noget gik galt
cs: interní chyba serveru | došlo k chybě | něco se pokazilo
uk: помилка сервера | сталася помилка | щось пішло не так
""")

ERROR_TELLS = Phrases("""
en: try again | try again later | reload the page | refresh the page | reload this page | refresh this page | we have been notified | been notified | our team | the server encountered | internal error | error code | error id | error message | contact the administrator | contact the server administrator | contact support | contact us if | stack trace | exception | unable to complete your request | unable to process | could not be completed | if you are the application owner | if you are the site owner | check the logs | we re working | we are working | this probably means that | sorry for the inconvenience | apologize | apologise | go back | request id | ray id | proxy server | upstream server | dsn | sqlstate
de: erneut | noch einmal | später | neu laden | fehlercode | administrator | wir arbeiten | entschuldigung | entschuldigen | stacktrace
fr: réessayer | réessayez | recharger | actualiser | code d erreur | administrateur | nous travaillons | veuillez nous excuser | désolés
es: inténtalo | inténtelo | intente | intenta | vuelve a intentar | recargar | recargue | código de error | administrador | estamos trabajando | disculpe | disculpa
it: riprova | riprovare | ricaricare | ricarica | codice di errore | amministratore | stiamo lavorando | ci scusiamo
pt: tente novamente | tente de novo | recarregar | recarregue | código de erro | administrador | estamos trabalhando | desculpe
nl: probeer het opnieuw | probeer opnieuw | opnieuw | later | herlaad | foutcode | beheerder | excuses
pl: spróbuj ponownie | spróbuj | odśwież | kod błędu | administratorem | pracujemy | przepraszamy
ru: попробуйте | повторите | обновите | обновить | код ошибки | администратору | администратором | мы работаем | извините | приносим извинения | мы уже
tr: tekrar deneyin | yeniden deneyin | tekrar deneyiniz | sayfayı yenileyin | hata kodu | yönetici | özür
ja: もう一度 | 再度 | 再読み込み | しばらく | エラーコード | 管理者 | 申し訳
zh: 重试 | 再试 | 刷新 | 错误代码 | 管理员 | 抱歉 | 重試 | 再試 | 稍后 | 稍後 | 重新整理
ko: 다시 시도 | 새로고침 | 새로 고침 | 오류 코드 | 관리자 | 죄송합니다
ar: المحاولة مرة أخرى | حاول مرة أخرى | إعادة تحميل | رمز الخطأ | المسؤول | نعتذر | آسفون
sv: försök igen
da: prøv igen
cs: zkuste to | omlouváme se
uk: спробуйте
""")
