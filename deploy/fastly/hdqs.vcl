# Fastly in front of hdqs. NOT RUN: there is no way to run Fastly's VCL outside of Fastly. It was
# reviewed against Fastly's documentation in November 2026, and does what deploy/varnish/hdqs.vcl does, which
# tests run. Try it on a service of its own first, with the checks of docs/caching.md#trying-a-cdn.
#
# Custom VCL: make it the main file. Define the replicas as backends of the service, with shielding, which
# collapses misses of all places into one. Replicas run with --surrogate-key and --base-url. Purge by
# key what 'hdqs publish' prints. Fastly takes ages and stale ages from Cache-Control by itself.

sub vcl_recv {
  #FASTLY recv

  if (req.method != "GET" && req.method != "HEAD" && req.method != "FASTLYPURGE") {
    return(pass); # agents send messages to /mcp by POST
  }
  # A path with a percent sign may be another spelling of any path; no path of the service needs one.
  if (req.url.path ~ "%" || req.url.path == "/mcp") {
    return(pass);
  }
  # The service lets no cache keep what a client of OData asks for by Accept.
  if (req.url.path ~ "^/odata/" && (req.http.Accept ~ "(?i)metadata=(none|full)|ieee754compatible=true" ||
    (req.url.path ~ "^/odata/v4/.metadata$" && req.http.Accept ~ "(?i)application/json" &&
    req.http.Accept !~ "(?i)/xml|text/|\*/\*"))) {
    return(pass);
  }
  # Bulk files never change, and Fastly cuts parts out of them. Parts of two answers of a list would look like
  # one file. Files of more than 100 MB need segmented caching.
  if (req.url.path ~ "^(/hapi|/contract)?/bulk/") {
    set req.enable_segmented_caching = true;
  } else {
    unset req.http.Range;
    unset req.http.If-Range;
  }
  unset req.http.Authorization;
  unset req.http.Cookie;
  # Maps (/ogc), /sources and paths that nothing is at have an answer for browsers and one for programs, which
  # Accept chooses. The service is sent one of two values of Accept, and each has a copy of its own.
  if (req.http.Accept ~ "text/html" && req.http.Accept !~ "json" &&
    req.url.path !~ "^(/hapi|/contract)?/(api|bulk|odata/)") {
    set req.http.Accept = "text/html";
  } else {
    set req.http.Accept = "*/*";
  }

  # The app identifier goes from the address, and so from the key, into a header field; where it is
  # in one already, it stays there. One that cannot be an identifier stays where it is, and the
  # service says what is wrong with it.
  declare local var.given STRING;
  declare local var.sorted STRING;
  set var.given = subfield(req.url.qs, "app_identifier", "&");
  if (var.given ~ "^(?:[A-Za-z0-9+/_=-]|%(?:2[BbFf]|3[Dd]|20)){8,}$") {
    set req.http.X-CATALOG-API-APP-IDENTIFIER = urldecode(regsuball(var.given, "\+", "%2B"));
    set req.url = querystring.filter(req.url, "app_identifier");
  }
  if (req.url.path ~ "^(/hapi|/contract)?/api" && req.url.path !~ "/api/v[12]/(encode_app_identifier|util/version)$" &&
    !(req.http.X-CATALOG-API-APP-IDENTIFIER ~ "^[A-Za-z0-9+/_= -]{8,}$") &&
    !(req.http.X-HDX-HAPI-APP-IDENTIFIER ~ "^[A-Za-z0-9+/_= -]{8,}$")) {
    return(pass);
  }
  # Sorting must lose nothing: each parameter has a plain name and occurs once.
  if (req.url.path ~ "/api/" && req.url.qs ~ "^(?:[a-z0-9_]+=[^&]+(?:&|$))+$") {
    set var.sorted = querystring.sort(req.url);
    if (var.sorted !~ "[?&]([a-z0-9_]+)=[^&]*&\1=") {
      set req.url = var.sorted;
    }
  }
  return(lookup);
}

# No answer that may be kept depends on Host.
sub vcl_hash {
  set req.hash += req.http.Accept;
  set req.hash += req.url;
  #FASTLY hash
  return(hash);
}

sub vcl_hit {
  #FASTLY hit
  return(deliver);
}

# The answer to a HEAD has no body and costs the service none.
sub vcl_miss {
  #FASTLY miss
  if (req.method == "HEAD") {
    return(pass);
  }
  return(fetch);
}

sub vcl_pass {
  #FASTLY pass
  return(pass);
}

sub vcl_fetch {
  #FASTLY fetch

  if (beresp.status >= 500 && beresp.status < 600) {
    if (stale.exists) {
      return(deliver_stale);
    }
    # A replica that has just started answers 503 until it has a snapshot; another one answers.
    if (req.restarts < 1 && (req.method == "GET" || req.method == "HEAD")) {
      restart;
    }
    return(pass);
  }
  if (!beresp.http.Cache-Control || beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private") {
    return(pass);
  }
  return(deliver);
}

sub vcl_error {
  #FASTLY error
  if (obj.status >= 500 && obj.status < 600 && stale.exists) {
    return(deliver_stale);
  }
  return(deliver);
}

sub vcl_deliver {
  #FASTLY deliver
  return(deliver);
}

sub vcl_log {
  #FASTLY log
}
